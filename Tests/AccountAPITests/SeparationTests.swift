import AccountAPI
import AccountStore
import Accounts
import AppStorePayloads
import AppleRecords
import Base
import Foundation
import Pipeline
import Postgres
import Simulation
import TestSupport
import Testing

@testable import APIKit

@Suite("Two accounts")
struct SeparationTests {
    /// How many batches of requests there are, and how many requests in each: all by one of the two.
    private static let (batches, size) = (samples(of: 60), 25)

    @Test(
        "never see or change anything of each other's, on any path that is described, whatever of the other's one sends",
        arguments: [20_261_122 as UInt64])
    func apart(seed: UInt64) async throws {
        try await Shop.open { shop in
            var random = TestSupport.SeededGenerator(seed: seed)
            let pair = [
                try await Party(shop, "6f9619ff-8b86-d011-b42d-00cf4fc964ff", lane: 9000, secondsAgo: 7_261),
                try await Party(shop, "bert.of-the-other-account", lane: 9100, secondsAgo: 91_733),
            ]
            let operations = try await DescribedOperation.all(of: shop.api)
            #expect(operations.count >= 30)
            var statuses: [Int: Int] = [:]
            var asked: Set<String> = []
            var number = 0
            for batch in 0..<Self.batches {
                let (one, other) = batch.isMultiple(of: 2) ? (pair[0], pair[1]) : (pair[1], pair[0])
                let before = try await other.rows(shop)
                for _ in 0..<Self.size {
                    // One after the other, so that none is left out.
                    let operation = operations[number % operations.count]
                    number += 1
                    asked.insert(operation.name)
                    let request = operation.request(by: one, stealingFrom: other, using: &random)
                    let answer = try await shop.api.send(
                        operation.method, request.path, token: one.token, body: request.body, request.headers)
                    statuses[answer.status, default: 0] += 1
                    let text =
                        answer.body + "\n" + answer.headers.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
                    for marker in other.markers where !request.echoes.contains(marker) {
                        #expect(
                            !text.lowercased().contains(marker.lowercased()),
                            "\(operation.method) \(request.path) \(request.body ?? "") told \(marker)")
                    }
                }
                let after = try await other.rows(shop)
                #expect(
                    before == after,
                    "batch \(batch) changed what is not its own: \(Set(before).symmetricDifference(after))")
            }
            // All of them, with answers of every kind; or nothing is shown by it.
            #expect(asked.count == Set(operations.map(\.name)).count, "seed \(seed)")
            // 503, because this shop has no client for Apple.
            #expect(
                (statuses[200] ?? 0) > Self.batches * 4 && (statuses[403] ?? 0) > Self.batches / 3
                    && statuses.keys.allSatisfy { $0 < 500 || $0 == 503 }, "\(statuses)")
            // And what is looked for can be found: whose it is sees it.
            for party in pair {
                let own = try await shop.api.get("/v1/subscriptions/status", token: party.token).body
                #expect(party.markers.contains { own.contains($0) })
            }
        }
    }
}

/// An account that has something of everything, and how to recognize it.
private struct Party: Sendable {
    let account: String
    let token: String
    let appAccountToken: UniqueIdentifier
    /// Signed transactions, of purchases that its token is in and that it has proven.
    let transactions: [String]
    let renewals: [String]
    /// Apple's numbers of its purchases.
    let numbers: [String]
    /// By the signed transaction: what a caller who hands it in is told of it.
    let said: [String: [String]]
    /// All texts by which it, or anything of its, would be recognized in an answer.
    let markers: Set<String>

    init(_ shop: Shop, _ account: String, lane: Int, secondsAgo: Int) async throws {
        self.account = account
        token = try await shop.api.signer.token(of: account)
        appAccountToken = AccountToken.of(account)
        let then = Shop(
            api: shop.api, authority: shop.authority, accounts: shop.accounts,
            now: shop.now - Milliseconds(secondsAgo * 1000 + lane % 997))
        let trial = try await shop.post("/v1/subscriptions/trial/start", as: account)
        #expect(trial.status == 200)
        let bought = [
            then.buy(lane: lane, for: account), then.buy(.basicYearly, lane: lane + 1),
            then.buy(lane: lane + 2, for: account, in: .sandbox),
        ]
        for one in bought {
            let body = #"{"signedTransactionInfo":"\#(one.transaction)","signedRenewalInfo":"\#(one.renewal ?? "")"}"#
            #expect(try await shop.post("/v1/subscriptions/verify", as: account, body).status == 200)
        }
        transactions = bought.map(\.transaction)
        renewals = bought.compactMap(\.renewal)
        let records = bought.compactMap(\.notification.transaction)
        numbers = records.flatMap { [$0.originalTransactionId, $0.transactionId] }
        said = Dictionary(
            zip(bought, records).map { ($0.transaction, [$1.originalTransactionId, $1.transactionId]) }
        ) { first, _ in first }
        let report = #"{"amount":1,"idempotencyKey":"key-of-\#(account)"}"#
        #expect(try await shop.post("/v1/usage/ai", as: account, report).status == 200)
        let text = "What \(account) was shown"
        #expect(
            try await shop.api.send(
                "PUT", "/v1/consents/consumption", token: token, body: #"{"granted":true,"text":"\#(text)"}"#
            ).status == 200)
        _ = try await EvidencePipeline(shop.api.observer).act(
            .grant(tier: "premium", days: 11), for: AccountIdentity(named: account), by: "test", why: "why \(account)")
        // Instants to the millisecond are as good as names.
        let status = try await shop.get("/v1/subscriptions/status", as: account).body
        let instants = status.matches(of: /"(20[0-9]{2}-[0-9-]+T[0-9:.]+Z)"/).map { String($0.output.1) }
        #expect(instants.count > 3)
        markers = Set(
            [account, appAccountToken.description, text, "key-of-\(account)", "why \(account)"] + numbers + instants
                + transactions)
    }

    /// Every row in which the account or one of its purchases is named, of every table there is.
    func rows(_ shop: Shop) async throws -> [String] {
        let names = ["token", "account", "app_account_token", "original_transaction_id"]
        let columns = try await shop.api.observer.query(
            """
            select c.table_name, c.column_name from information_schema.columns c
              join information_schema.tables t using (table_schema, table_name)
             where c.table_schema = 'storehook' and t.table_type = 'BASE TABLE' and c.column_name = any(\(names))
             order by 1, 2
            """
        ).map { (try $0.decode(0, as: String.self), try $0.decode(1, as: String.self)) }
        #expect(columns.count > 8)
        let values = [account, appAccountToken.description] + numbers
        var rows: [String] = []
        for (table, column) in columns {
            rows += try await shop.api.observer.query(
                """
                select '\(unescaped: table) ' || to_jsonb(t)::text from storehook.\(unescaped: table) t
                 where t.\(unescaped: column)::text = any(\(values)) order by 1
                """
            ).map { try $0.decode(0) }
        }
        return rows
    }
}

/// One method of one path, as `/openapi.json` describes it: of the same list the router is made.
private struct DescribedOperation {
    struct Request {
        var path: String
        var body: String?
        var headers: [(String, String)]
        /// The other account's signed texts that were sent in: a caller who holds one is told what stands in it.
        var echoes: Set<String> = []
    }

    let method: String
    let path: String
    let name: String
    private let query: [[String: Any]]
    private let body: [String: [String: Any]]
    private let required: Set<String>

    static func all(of api: RunningAPI) async throws -> [DescribedOperation] {
        let text = try await api.get("/openapi.json").body
        let document = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let paths = try #require(document["paths"] as? [String: [String: [String: Any]]])
        let schemas = (document["components"] as? [String: Any])?["schemas"] as? [String: [String: Any]] ?? [:]
        return paths.sorted { $0.key < $1.key }.flatMap { path, methods in
            methods.sorted { $0.key < $1.key }.map { method, operation in
                let content = (operation["requestBody"] as? [String: Any])?["content"] as? [String: [String: Any]]
                var schema = content?["application/json"]?["schema"] as? [String: Any] ?? [:]
                if let name = (schema["$ref"] as? String)?.split(separator: "/").last {
                    schema = schemas[String(name)] ?? [:]
                }
                let parameters = operation["parameters"] as? [[String: Any]] ?? []
                return DescribedOperation(
                    method: method.uppercased(), path: path, name: operation["operationId"] as? String ?? path,
                    query: parameters.filter { $0["in"] as? String == "query" },
                    body: schema["properties"] as? [String: [String: Any]] ?? [:],
                    required: Set(schema["required"] as? [String] ?? []))
            }
        }
    }

    /// A request with one's own token, and with whatever is the other's in the places where something can be said.
    func request(
        by one: Party, stealingFrom other: Party, using random: inout TestSupport.SeededGenerator
    ) -> Request {
        let stolen = [other.account, other.appAccountToken.description, "key-of-\(other.account)"] + other.numbers
        var request = Request(path: path, headers: [])
        for match in path.matches(of: /\{[^}]+\}/).reversed() {
            let value = (["ai", "words", "current"] + stolen).randomElement(using: &random) ?? ""
            request.path.replaceSubrange(match.range, with: Self.escaped(value))
        }
        var pairs = query.compactMap { parameter -> String? in
            guard let name = parameter["name"] as? String, Int.random(in: 0..<3, using: &random) == 0 else {
                return nil
            }
            let choice = ((parameter["schema"] as? [String: Any])?["enum"] as? [String])?.randomElement(using: &random)
            return "\(name)=\(Self.escaped(choice ?? stolen.randomElement(using: &random) ?? ""))"
        }
        for name in ["account", "accountId", "appAccountToken", "token", "sub", "transactionId"]
        where Int.random(in: 0..<4, using: &random) == 0 {
            pairs.append("\(name)=\(Self.escaped(stolen.randomElement(using: &random) ?? ""))")
        }
        if !pairs.isEmpty { request.path += "?" + pairs.joined(separator: "&") }
        for name in ["X-Account-ID", "X-Storehook-Account", "X-Auth-Request-User", "X-Forwarded-User", "Cookie"]
        where Int.random(in: 0..<3, using: &random) == 0 {
            let value = [other.account, other.appAccountToken.description].randomElement(using: &random) ?? ""
            request.headers.append((name, name == "Cookie" ? "token=\(other.token)" : value))
        }
        guard method != "GET" else { return request }
        var members: [String: Any] = [:]
        for (name, schema) in body.sorted(by: { $0.key < $1.key })
        where required.contains(name) || Int.random(in: 0..<2, using: &random) == 0 {
            members[name] = value(of: schema, named: name, one, other, stolen, using: &random)
        }
        for name in ["account", "accountId", "appAccountToken", "originalTransactionId", "sub"]
        where Int.random(in: 0..<3, using: &random) == 0 {
            members[name] = stolen.randomElement(using: &random)
        }
        let data = (try? JSONSerialization.data(withJSONObject: members, options: [.withoutEscapingSlashes])) ?? Data()
        let text = String(decoding: data, as: UTF8.self)
        for (transaction, said) in other.said where text.contains(transaction) { request.echoes.formUnion(said) }
        request.body = text
        return request
    }

    private func value(
        of schema: [String: Any], named name: String, _ one: Party, _ other: Party, _ stolen: [String],
        using random: inout TestSupport.SeededGenerator
    ) -> Any {
        var schema = schema
        if let some = schema["oneOf"] as? [[String: Any]], let first = some.first { schema = first }
        if let choices = schema["enum"] as? [String] { return choices.randomElement(using: &random) ?? "" }
        let signed =
            name.lowercased().contains("renewal")
            ? other.renewals + one.renewals : other.transactions + one.transactions
        switch schema["type"] as? String {
        case "boolean": return Bool.random(using: &random)
        case "integer": return 1
        case "array":
            return (0..<Int.random(in: 1...3, using: &random)).compactMap { _ in signed.randomElement(using: &random) }
        default:
            if name.lowercased().contains("signed") || name.lowercased().contains("receipt") {
                return signed.randomElement(using: &random) ?? ""
            }
            return stolen.randomElement(using: &random) ?? ""
        }
    }

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}
