import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Postgres
import TestSupport
import Testing
import WebhookSupport

/// What is asked at the end of a life: every command, every path of the account API, every event.
extension GoldenLife {
    /// Asks everything, always in the same order: some of it changes what comes after it.
    func outputs(_ sales: [String: Sale]) async throws -> [Output] {
        var outputs: [Output] = []
        let told = endpoint.posts
        outputs += told.map { post in
            Output(file: "deliveries", question: "\(post.line), in order", kind: .json, text: post.body)
        }
        outputs += try await api(sales)
        outputs += try await commands(sales)
        outputs += try await events()
        let document = try await api.send("/openapi.json")
        outputs.append(Output(file: "openapi", question: "GET /openapi.json", kind: .json, text: document.body))
        return outputs
    }

    // MARK: - Commands

    private func commands(_ sales: [String: Sale]) async throws -> [Output] {
        var outputs: [Output] = []
        func file(_ name: String, _ text: String) throws -> String {
            let path = "\(directory)/\(name)"
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            return path
        }
        func run(_ words: String, _ shown: String? = nil, input: String = "", kind: Output.Kind = .table) async throws
            -> String
        {
            let program = try site.start(words.split(separator: " ").map(String.init), settings, input: input)
            let ending = await program.end()
            let text = program.output
            let status = if case .exited(let status) = ending { "\(status)" } else { "\(ending)" }
            await program.discard()
            outputs.append(
                Output(file: "commands", question: "storehook \(shown ?? words) → \(status)", kind: kind, text: text))
            return text
        }
        /// Once for scripts and once for people.
        func both(_ words: String, _ shown: String? = nil, input: String = "") async throws {
            for format in ["json", "table"] {
                _ = try await run(
                    "\(words) --format \(format)", "\(shown ?? words) --format \(format)", input: input,
                    kind: format == "json" ? .json : .table)
            }
        }
        func sale(_ name: String) throws -> Sale { try #require(sales[name]) }
        /// A question about a purchase, whose ids are the same in each run.
        func original(_ name: String) throws -> String { try sale(name).originalTransactionID }

        _ = try await run("--version")
        _ = try await run("migrate --check")
        try await both("apps")
        try await both("queue")
        try await both("queue --conservation --audit")
        for customer in [
            "alice", "bob", "carol", "dave", "erin", "frank", "gina", "heidi", "ivan", "judy", "kate", "nina", "nobody",
        ] {
            try await both("account \(customer)")
        }
        try await both("account sam --environment Sandbox")
        try await both("account expiring --days 30")
        try await both("accounts list")
        try await both("accounts list --status active --tier pro --limit 2")
        try await both("subscriptions list --limit 3")
        try await both("subscriptions list --unowned")
        try await both("find alice")
        try await both("find \(original("bob"))", "find <bob>")
        try await both("purchases list")
        try await both("purchases list --account alice --kind restore")
        for name in [
            "alice", "bob", "carol", "dave", "erin", "frank", "gina", "heidi", "ivan", "judy", "sam", "kate", "liam",
            "mallory", "nina",
        ] {
            try await both("subscription \(original(name))", "subscription <\(name)>")
        }
        let instant = Date(timeIntervalSince1970: Double(start / 1000 + 33 * 86_400)).ISO8601Format()
        try await both("subscription \(original("frank")) --at \(instant)", "subscription <frank> --at <start+33d>")
        try await both("subscription \(original("alice")) --as-learned", "subscription <alice> --as-learned")
        try await both("account alice --at \(instant)", "account alice --at <start+33d>")
        let (known, shown) = (
            Date.now.ISO8601Format(.init(includingFractionalSeconds: true)), "--at <start+33d> --known-at <now>"
        )
        try await both("account alice --at \(instant) --known-at \(known)", "account alice \(shown)")
        try await both(
            "subscription \(original("frank")) --at \(instant) --known-at \(known)", "subscription <frank> \(shown)")
        let notifications = try await site.pool.query(
            "select notification_uuid::text from storehook.notifications order by received_at"
        ).map { try $0.decode(0, as: String.self) }
        for (place, uuid) in notifications.enumerated() where place % 3 == 0 {
            _ = try await run(
                "notification \(uuid) --format json", "notification <\(place + 1)> --format json", kind: .json)
            guard place % 12 == 0 else { continue }
            _ = try await run("notification \(uuid) --format table", "notification <\(place + 1)> --format table")
        }
        try await post(#"{"signedPayload":"\#(Self.forged)"}"#)
        try await settle()
        try await both("dead-letters list")
        try await both("dead-letters show 1")
        try await both("dead-letters replay --all --dry-run")
        try await both("dead-letters replay 1 --why golden")
        try await settle()
        try await both("dead-letters discard 2 --why golden")
        _ = try await run("rebuild --check", kind: .table)
        try await both("maintain")
        let catalog = try file(
            "catalog.yaml",
            Self.catalog.replacing("price: 4.99", with: "price: 5.99").replacing(
                "tier: premium, period: month", with: "tier: pro, period: month"))
        try await both("catalog check \(catalog)", "catalog check FILE")
        try await both("catalog diff \(catalog)", "catalog diff FILE")
        _ = try await run("catalog show")
        _ = try await run("catalog schema", kind: .json)
        let policy = try file(
            "policy.yaml",
            "rules:\n  - types: [auto_renewable]\n    answer: {delivery_status: DELIVERED, sample_content_provided: false}\n"
        )
        try await both("consumption check \(policy)", "consumption check FILE")
        try await both("consumption list --days 365")
        try await both("consent erin")
        _ = try await run(
            "verify --kind transaction", "verify --kind transaction < signed transaction",
            input: sale("alice").signedTransaction, kind: .json)
        _ = try await run(
            "verify --kind renewal", "verify --kind renewal < signed renewal", input: sale("alice").signedRenewal ?? "",
            kind: .json)
        _ = try await run("verify", "verify < forged", input: Self.forged, kind: .json)
        _ = try await run(
            "verify --kind receipt", "verify --kind receipt < receipt", input: sale("dave").receipt, kind: .json)
        for (words, name) in [
            ("status", "frank"), ("history", "alice"), ("transaction", "dave"), ("refunds", "erin's pass"),
            ("app-transaction", "alice"),
        ] {
            try await both("apple \(words) \(original(name))", "apple \(words) <\(name)>")
        }
        try await both("apple lookup M\(sale("dave").transactionID)", "apple lookup <order of dave>")
        try await both("apple status 1")
        try await both("apple finish \(sale("erin").transactionID)", "apple finish <erin>")
        try await both(
            "apple set-account-token \(original("mallory")) 7f1de78e-0d4e-4c5e-9d3c-000000000001",
            "apple set-account-token <mallory> UUID")
        _ = try await run(
            "apple extend \(original("ivan")) --days 3 --reason other --request-id golden-1 --format json",
            "apple extend <ivan> --days 3 --format json", kind: .json)
        try await both("extensions list")
        try await both("extensions show 1")
        try await both("extensions close 1 --why golden")
        _ = try await run(
            "apple extend-all --product com.example.storehook.premium.monthly --days 2 --reason outage --environment Production --format json",
            "apple extend-all --format json", kind: .json)
        try await settle()
        try await both("extensions list")
        try await both("extensions show 2")
        _ = try await run(
            "apple consumption \(sale("erin").transactionID) --consented --format json",
            "apple consumption <erin> --consented --format json", kind: .json)
        try await both("refresh \(original("frank"))", "refresh <frank>")
        try await settle()
        try await both("refresh --account bob")
        try await settle()
        let receipt = try file("receipt", sale("dave").receipt)
        try await both("refresh --receipt \(receipt)", "refresh --receipt FILE")
        try await settle()
        try await both("reconcile --check")
        try await both("doctor --port \(receiver)", "doctor")
        for (words, why) in [
            ("grant zoe --tier pro --days 30", "a gift"), ("extend zoe --days 7", "again"),
            ("change-tier alice --tier premium", "moved"), ("revoke bob", "abuse"), ("unrevoke bob", "mistake"),
        ] {
            for format in ["json", "table"] {
                let program = try site.start(
                    words.split(separator: " ").map(String.init) + ["--why", why, "--format", format], settings)
                let ending = await program.end()
                outputs.append(
                    Output(
                        file: "commands", question: "storehook \(words) --format \(format) → \(ending)",
                        kind: format == "json" ? .json : .table, text: program.output))
                await program.discard()
                try await settle()
            }
        }
        _ = try await run("account erase heidi --format json", kind: .json)
        try await settle()
        try await both("account heidi")
        try await both("account zoe")
        _ = try await run("staff token --account-api --name golden --format json", kind: .json)
        try await both("staff token --list")
        try await both("endpoints list")
        try await both("endpoints test 1")
        _ = try await run("endpoints rotate 1 --format json", kind: .json)
        try await both("endpoints disable 1")
        try await both("endpoints enable 1 --rate 50")
        try await settle()
        try await both("events list --limit 10000")
        try await both("events deliveries --limit 10000")
        _ = try await run("events resend --account alice --format json", kind: .json)
        try await settle()
        _ = try await run("endpoints remove 1")
        return outputs
    }

    /// No genuine signature, under no genuine certificates.
    private static let forged = "eyJhbGciOiJFUzI1NiIsIng1YyI6WyJBQSIsIkFBIiwiQUEiXX0.e30.AAAA"

    // MARK: - The account API

    private func api(_ sales: [String: Sale]) async throws -> [Output] {
        var outputs: [Output] = []
        func ask(
            _ method: HTTPMethod, _ path: String, as account: String?, _ headers: [(String, String)] = [],
            _ body: String? = nil,
            shown: String? = nil
        ) async throws {
            var request = HTTPClientRequest(url: "http://127.0.0.1:\(api.port)\(path)")
            request.method = method
            if let account { request.headers.add(name: "Authorization", value: "Bearer \(try await token(account))") }
            for (name, value) in headers { request.headers.add(name: name, value: value) }
            if let body { request.body = .bytes(ByteBuffer(string: body)) }
            let response = try await client.execute(request, timeout: .seconds(60))
            let text = String(buffer: try await response.body.collect(upTo: 8 << 20))
            let kept = response.headers.filter {
                let name = $0.name.lowercased()
                return name == "content-type" || name == "cache-control" || name == "www-authenticate"
                    || name.hasPrefix("x-storehook")
            }.map { "\($0.name.lowercased()): \($0.value)" }.sorted().joined(separator: ", ")
            outputs.append(
                Output(
                    file: "account-api",
                    question:
                        "\(method) \(path) as \(account ?? "nobody")\(shown.map { ": \($0)" } ?? "") → \(response.status.code) \(kept)",
                    kind: .json, text: text))
            if method != .GET { try await settle() }
        }
        let all = [
            "alice", "bob", "carol", "dave", "erin", "frank", "gina", "heidi", "ivan", "judy", "kate", "nina", "nobody",
        ]
        for account in all { try await ask(.GET, "/v1/subscriptions/status", as: account) }
        for account in ["alice", "dave", "frank", "nina", "nobody"] {
            for path in [
                "/v1/account", "/v1/entitlements", "/v1/products", "/v1/features", "/v1/features/ai",
                "/v1/usage/current",
                "/v1/subscriptions/trial/eligibility", "/v1/subscriptions/trial/status", "/v1/guard",
                "/v1/guard?tier=premium",
                "/v1/guard?feature=video", "/subscriptions/status", "/subscriptions/trial/status", "/usage/current",
                "/subscription/status", "/subscription/products",
            ] { try await ask(.GET, path, as: account) }
        }
        try await ask(.GET, "/v1/subscriptions/status?environment=Sandbox", as: "sam")
        try await ask(.GET, "/v1/features/nothing", as: "alice")
        try await ask(.GET, "/v1/nothing", as: "alice")
        try await ask(.GET, "/v1/account", as: nil)
        try await ask(.GET, "/healthz", as: nil)
        try await ask(.GET, "/readyz", as: nil)
        func signed(_ name: String) throws -> String {
            #"{"signedTransactionInfo":"\#(try #require(sales[name]).signedTransaction)"}"#
        }
        for path in ["/v1/subscriptions/verify", "/subscriptions/verify"] {
            try await ask(.POST, path, as: "carol", [], signed("carol"), shown: "carol's")
            try await ask(.POST, path, as: "alice", [], signed("carol"), shown: "carol's")
            try await ask(.POST, path, as: "alice", [], signed("bob"), shown: "bob's")
            try await ask(
                .POST, path, as: "alice", [], #"{"signedTransactionInfo":"\#(Self.forged)"}"#, shown: "forged")
            try await ask(.POST, path, as: "alice", [], "{}", shown: "nothing")
        }
        try await ask(
            .POST, "/subscription/verify", as: "carol", [], #"{"signed_transaction_info":"x"}"#, shown: "malformed")
        let restored = try ["carol", "bob"].map { "\"\(try #require(sales[$0]).signedTransaction)\"" }.joined(
            separator: ",")
        try await ask(
            .POST, "/v1/subscriptions/restore", as: "carol", [], #"{"signedTransactions":[\#(restored)]}"#,
            shown: "hers and bob's")
        try await ask(
            .POST, "/v1/subscriptions/verify", as: "dave", [],
            #"{"receiptData":"\#(try #require(sales["dave"]).receipt)"}"#, shown: "his receipt")
        try await ask(.POST, "/v1/subscriptions/restore", as: "bob", [], "{}", shown: "what is bound")
        try await ask(.POST, "/v1/subscriptions/refresh", as: "frank")
        try await ask(.POST, "/v1/subscriptions/trial/start", as: "nobody", [], "{}")
        try await ask(.POST, "/v1/subscriptions/trial/start", as: "nobody", [], "{}", shown: "again")
        try await ask(.POST, "/v1/subscriptions/trial/start", as: "alice", [], "{}")
        try await ask(.GET, "/v1/subscriptions/status", as: "nobody")
        for key in ["one", "one", "two"] {
            try await ask(
                .POST, "/v1/usage/words", as: "ulla", [], #"{"amount":1,"idempotencyKey":"\#(key)"}"#,
                shown: "1, \(key)")
        }
        try await ask(.POST, "/v1/usage/words", as: "ulla", [], #"{"amount":1}"#, shown: "1")
        try await ask(.POST, "/usage/words", as: "ulla", [], #"{"amount":1}"#, shown: "1")
        try await ask(.POST, "/v1/usage/ai", as: "ulla", [], #"{"amount":1}"#, shown: "1")
        try await ask(.POST, "/v1/usage/words", as: "ulla", [], #"{"many":1}"#, shown: "many")
        for query in ["feature=words", "feature=words&usage=required", "feature=ai&usage=required", "usage=required"] {
            try await ask(.GET, "/v1/guard?\(query)", as: "ulla")
        }
        try await ask(
            .POST, "/v1/purchases", as: "alice", [],
            #"{"outcome":"completed","kind":"purchase","productId":"com.example.storehook.basic.monthly"}"#)
        try await ask(.POST, "/v1/purchases", as: "alice", [], #"{"outcome":"perhaps","kind":"purchase"}"#)
        try await ask(.POST, "/v1/purchases", as: "alice", [], #"{"outcome":"nothing","kind":"restore"}"#)
        try await ask(
            .POST, "/v1/purchases", as: "alice", [],
            #"{"outcome":"completed","kind":"restore","transactionId":"1","environment":"Sandbox","reason":"asked for"}"#
        )
        try await ask(.POST, "/v1/purchases", as: "alice", [], #"{"outcome":"nothing","kind":"purchase"}"#)
        try await ask(.PUT, "/v1/consents/consumption", as: "carol", [], #"{"granted":true,"text":"I agree."}"#)
        let made = try await site.run(
            "staff", "token", "--account-api", "--name", "backend", "--format", "json", with: settings)
        let key = try #require((try made.json() as? [String: Any])?["key"] as? String)
        try await eventually("the key counts") {
            try await api.send("/v1/account", [("X-Account-ID", "alice")], token: key).status == 200
        }
        let server = [("Authorization", "Bearer \(key)")]
        try await ask(
            .GET, "/v1/subscriptions/status", as: nil, server + [("X-Account-ID", "bob")], shown: "server key, bob")
        try await ask(.GET, "/v1/subscriptions/status", as: nil, server, shown: "server key, nobody named")
        try await ask(
            .PUT, "/v1/account/profile", as: nil, server + [("X-Account-ID", "bob")], #"{"name":"Bob Smith"}"#,
            shown: "server key, bob")
        try await ask(.PUT, "/v1/account/profile", as: "bob", [], #"{"name":"Bob Smith"}"#)
        try await ask(.GET, "/v1/events?limit=1000", as: nil, server, shown: "server key")
        try await ask(.GET, "/v1/events?after=5&limit=3", as: nil, server, shown: "server key")
        return outputs
    }

    // MARK: - Events

    private func events() async throws -> [Output] {
        let rows = try await site.pool.query(
            "select kind || ' ' || sequence, content from storehook.events order by id"
        ).map { (try $0.decode(0, as: String.self), try $0.decode(1, as: String.self)) }
        return rows.enumerated().map { place, row in
            Output(file: "events", question: "\(place + 1): \(row.0)", kind: .json, text: "{\(row.1)}")
        }
    }
}
