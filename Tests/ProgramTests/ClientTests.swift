import Events
import Foundation
import Postgres
import TestSupport
import Testing
import WebhookSupport

@Suite("Clients that public generators make of /openapi.json")
struct ClientTests {
    /// What the judge is given; see `Clients/clients.py`.
    private struct Given: Encodable {
        var url: String
        var tokens: [String: String]
        var key: String
        var transaction: String
        var receipt: String
        var posts: [String]
    }

    @Test(
        "are made without a warning and without made-up names, pass mypy --strict, call every operation, and read every answer and every kind of event"
    )
    func clients() async throws {
        let place = try await pythonPackage("client-generators")
        try await withSite { site in
            try await withTemporaryDirectory { directory in
                let endpoint = try await WebhookReceiver.start()
                try await withTokenKey { keys in
                    try await site.with(["receive", "--port", "0"]) { receiver in
                        let url = "http://127.0.0.1:\(try #require(receiver.port))/webhooks/apple"
                        let store = try await RunningAppStore(
                            site, keys: directory + "/pki", ["--notify", url, "--speed", "1"])
                        let settings = try Self.settings(keys, store, directory)
                        try await site.apply(catalog: shopCatalog, with: settings)
                        try await site.with(["work"], settings) { _ in
                            // Before the account API begins to say it.
                            try await eventually("Apple's history is proven to be held") {
                                try await site.value(
                                    "select count(proven_until) = 2 from storehook.answer_proof", as: Bool.self)
                            }
                            try await site.with(["serve", "--port", "0"], settings) { api in
                                let given = try await Self.given(
                                    site, store, endpoint, ServedAPI(port: try #require(api.port)), settings)
                                let verdict = try await Self.judge(place, given, in: directory)
                                // Each account, each answer: it has done what it says.
                                let (_, operations, answers, kinds) = try #require(
                                    verdict.firstMatch(of: /(\d+) operations, (\d+) answers, (\d+) kinds/)
                                ).output
                                #expect(Int(operations) ?? 0 >= 36 && Int(answers) ?? 0 >= 33)
                                #expect(Int(kinds) == EventKind.allCases.count)
                            }
                        }
                        await store.discard()
                    }
                }
                try await endpoint.stop()
            }
        }
    }

    private static func settings(
        _ keys: [String: String], _ store: RunningAppStore, _ directory: String
    ) throws -> [String: String] {
        func announced(_ name: String) throws -> String { try #require(store.announcement[name]) }
        return keys.merging(try makeEndpointSettings(in: directory)) { $1 }.merging([
            "STOREHOOK_TRUSTED_ROOTS": try announced("rootFingerprint"), "STOREHOOK_APPLE_URL": store.url,
            "STOREHOOK_APPLE_KEYS": try announced("keysFile"),
            "STOREHOOK_APPS":
                "\(try announced("bundleId"))=\(try announced("appAppleId"))",
        ]) { $1 }
    }

    /// What was bought and posted: of each thing that an event may carry at least one.
    private static func given(
        _ site: Site, _ store: RunningAppStore, _ endpoint: WebhookReceiver, _ api: ServedAPI,
        _ settings: [String: String]
    ) async throws -> Given {
        func run(_ words: String...) async throws -> String {
            let program = try site.start(words, settings)
            let ending = await program.end()
            #expect(ending == .exited(0), "\(words): \(program.errors)")
            let output = program.output
            await program.discard()
            return output
        }
        _ = try await run("endpoints", "add", "http://127.0.0.1:\(endpoint.port)/hook")
        var tokens: [String: String] = [:]
        for account in ["alice", "bob", "zoe", "zack"] {
            tokens[account] = try await run("demo", "token", account).trimmingCharacters(in: .whitespacesAndNewlines)
        }
        let account = try await api.send("/v1/account", token: tokens["alice"])
        #expect(account.object?["provenUntil"] is String, "\(account.body)")
        let token = try #require(account.object?["appAccountToken"] as? String)
        func buy(_ product: String) async throws -> [String: Any] {
            let sold = try await store.shop(
                "purchases",
                #"{"customer":"alice","productId":"com.example.storehook.\#(product)","environment":"Production","appAccountToken":"\#(token)"}"#
            )
            return try #require(try JSONSerialization.jsonObject(with: Data(sold.utf8)) as? [String: Any])
        }
        let subscription = try await buy("basic.monthly")
        let coins = try await buy("coins.100")
        let transaction = try #require(coins["transactionId"] as? String)
        try await store.shop("consumption-requests", #"{"transactionId":"\#(transaction)","reason":"OTHER"}"#)
        let made = try await run("staff", "token", "--account-api", "--format", "json")
        _ = try await run("endpoints", "test", "1")
        let wanted: Set<EventKind.Payload> = Set(EventKind.Payload.allCases)
        func carried() -> Set<EventKind.Payload> {
            Set(
                endpoint.posts.compactMap { post in
                    let body = try? JSONSerialization.jsonObject(with: Data(post.body.utf8)) as? [String: Any]
                    return (body?["type"] as? String).flatMap(EventKind.init(rawValue:))?.payload
                })
        }
        try await eventually("each thing that an event may carry is posted") { carried() == wanted }
        return Given(
            url: "http://127.0.0.1:\(api.port)", tokens: tokens,
            key: try #require(
                (try JSONSerialization.jsonObject(with: Data(made.utf8)) as? [String: Any])?["key"] as? String),
            transaction: try #require(subscription["signedTransactionInfo"] as? String),
            receipt: try #require(subscription["receiptData"] as? String), posts: endpoint.posts.map(\.body))
    }

    private static func judge(_ place: String, _ given: Given, in directory: String) async throws -> String {
        let script = packageRoot.appending(path: "Tests/ProgramTests/Clients/clients.py").path
        return try await ChildProgram.run(
            "/bin/sh",
            [
                "-c", #"mkdir "$1" && cd "$1" && exec timeout --kill-after=5 170 "$2" -B "$3""#, "sh",
                directory + "/clients", place + "/bin/python", script,
            ],
            environment: [
                "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "NO_PROXY": "*", "TMPDIR": directory,
                "LC_ALL": "C.UTF-8",
            ], input: Array(try JSONEncoder().encode(given)))
    }
}
