import APIKit
import AccountStore
import AppStorePayloads
import AuditStore
import Base
import Foundation
import OrderStore
import Postgres
import Staff
import Subscriptions
import TestSupport
import Testing

/// One box for all that leads to a customer.
struct SearchTests {
    private func search(
        _ desk: RunningDesk, _ text: String, _ token: String, in environment: String? = nil
    ) async throws -> Answer {
        let members: [JSONValue.Member] =
            [.init("text", .string(text))] + (environment.map { [.init("environment", .string($0))] } ?? [])
        let body = String(decoding: JSONValue.object(members).bytes, as: UTF8.self)
        return try await desk.post("/admin/search", token, body)
    }

    private func hits(_ answer: Answer) -> [JSONObject] {
        answer.object?["hits"]?.elements?.compactMap(\.object) ?? []
    }

    private func name(_ desk: RunningDesk, _ number: Int, _ name: String, _ mail: String) async throws {
        _ = try await AccountStore(desk.observer).put(AccountProfile(name: name, mail: mail), for: Desk.token(number))
    }

    @Test("An account's id, its token, a name, a mail address and each of Apple's ids lead to the same customer")
    func ways() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.support).token
            try await name(desk, 5, "Kim Example", "kim@example.com")
            let order = try await desk.order(5) { $0.webOrderLineItemId = "700001" }
            let customer = "token:\(Desk.token(5))"
            for (text, kind) in [
                ("person-5", "account"), (" person-5\n", "account"), ("\(Desk.token(5))", "token"),
                (customer, "token"), (String("\(Desk.token(5))".prefix(8)), "token"),
                (String("\(Desk.token(5))".uppercased().prefix(20)), "token"), ("KIM EX", "person"), ("kim@", "person"),
                ("10005", "purchase"),
                ("10005.0", "transaction"), ("700001", "order_line"), (order, "order"), (order.lowercased(), "order"),
                (String(order.prefix(9)), "order"),
            ] {
                let answer = try await search(desk, text, token)
                #expect(answer.status == 200, "\(text): \(answer.body)")
                let hits = hits(answer)
                #expect(hits.contains { $0.string("customer") == customer }, "\(text): \(answer.body)")
                #expect(hits.contains { $0.string("kind") == kind }, "\(text): \(answer.body)")
                #expect(answer.object?.bool("isElsewhere") == false && answer.object?.bool("knowsIDs") == true)
                #expect(!answer.body.contains("Kim Example") && !answer.body.contains("person-5"), "\(answer.body)")
            }
            let transaction = try #require(hits(try await search(desk, "10005.0", token)).first)
            #expect(transaction.string("order") == order && transaction.string("productId") == "basic")
            #expect(transaction.string("bundleId") == Desk.app && transaction.string("environment") == "Production")
            for (text, isOrder) in [
                ("MVXD1234567", true), ("nobody", false), ("ORD-20990101-0001", false),
                (String("\(Desk.token(5))".prefix(7)), false), ("01234567", false),
            ] {
                let answer = try await search(desk, text, token)
                #expect(hits(answer).isEmpty && answer.object?.bool("isOrderOfApple") == isOrder, "\(answer.body)")
            }
        }
    }

    @Test("Who may not open personal texts finds a name or mail address by the whole of it alone")
    func viewers() async throws {
        try await withDesk { desk in
            let viewer = try await desk.member(.viewer).token
            try await name(desk, 1, "Kim Example", "kim@example.com")
            for text in ["kim", "Kim Exampl", "kim@example.co", "%", "kim_example"] {
                #expect(hits(try await search(desk, text, viewer)).isEmpty, "\(text)")
            }
            for text in ["kim example", "KIM@EXAMPLE.COM", "person-1"] {
                let answer = try await search(desk, text, viewer)
                #expect(hits(answer).count == 1 && !answer.body.contains("Kim Example"), "\(text): \(answer.body)")
            }
        }
    }

    @Test("What is found in the other environment only is shown, and the answer says so")
    func elsewhere() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.viewer).token
            let key = PurchaseKey(environment: "Sandbox", bundleID: Desk.app, originalTransactionID: "90001")
            try await desk.buy([Desk.entry(key, "basic", for: Desk.token(9), number: 90)])
            for text in ["90001", "90001.0", "person-9"] {
                let answer = try await search(desk, text, token)
                #expect(hits(answer).count == 1, "\(text): \(answer.body)")
                #expect(answer.object?.bool("isElsewhere") == true)
                #expect(answer.object?.strings("otherEnvironments") == ["Sandbox"])
                let there = try await search(desk, text, token, in: "Sandbox")
                #expect(hits(there).count == 1 && there.object?.bool("isElsewhere") == false, "\(there.body)")
                #expect(there.object?.strings("otherEnvironments") == [])
            }
        }
    }

    @Test("It leads to an id that says nothing, and that leads its member alone to the same, for an hour")
    func kept() async throws {
        try await withDesk { desk in
            let (kim, sam) = (try await desk.member(.support).token, try await desk.member(.viewer).token)
            try await name(desk, 1, "Jo Doe", "jo@example.com")
            let answer = try await search(desk, "jo@example.com", kim)
            let id = try #require(answer.object?.string("id"))
            let stored: String = try await desk.observer.query("select found::text from storehook.searches").one()
                .decode(0)
            #expect(stored.contains("\(Desk.token(1))") && !stored.contains("jo"), "\(stored)")
            let again = try await desk.get("/admin/search/\(id)", kim)
            #expect(again.status == 200 && again.body == answer.body, "\(again.body)")
            for (path, token) in [
                (id, sam), ("\(UUID())", kim), ("1", kim), ("%00", kim), (String(repeating: "a", count: 99), kim),
            ] {
                #expect(try await desk.get("/admin/search/\(path)", token).status == 404, "\(path)")
            }
            let before = try await desk.place()
            let opened = try await desk.get("/admin/search/\(id.uppercased())?open=true&reason=a%20call", kim)
            #expect(opened.body.contains("Jo Doe") && opened.body.contains("jo@example.com"), "\(opened.body)")
            let rows = try await desk.rows(after: before)
            #expect(rows.map(\.act) == ["open_personal_text"] && rows.first?.subject == id)
            #expect(rows.first?.after?.contains(#""opened": "#) == true)
            let own = try #require(try await search(desk, "10001", sam).object?.string("id"))
            #expect(try await desk.get("/admin/search/\(own)?open=true", sam).status == 403)
            try await desk.observer.query("update storehook.searches set made_at = now() - interval '1 hour'")
            #expect(try await desk.get("/admin/search/\(id)", kim).status == 404)
        }
    }

    @Test("Staff of some apps find what is of their apps, and of an account no other app's purchase")
    func scope() async throws {
        try await withDesk { desk in
            let some = try await desk.member(.support, of: [Desk.app]).token
            let all = try await desk.member(.support).token
            try await name(desk, 2, "Lee Other", "lee@example.com")
            try await desk.buy([Desk.entry(Desk.purchase(3, of: Desk.other), "best", for: Desk.token(1), number: 3)])
            for text in ["person-2", "\(Desk.token(2))", "10002", "10002.0", "lee", "10003"] {
                #expect(hits(try await search(desk, text, all)).count == 1, "\(text)")
                let answer = try await search(desk, text, some)
                #expect(hits(answer).isEmpty && !answer.body.contains(Desk.other), "\(text): \(answer.body)")
            }
            // A hundred accounts of no app of theirs come before the one that is.
            try await name(desk, 1, "Zoe Here", "zoe@example.com")
            try await desk.observer.query(
                """
                insert into storehook.account_profiles (token, name, mail, changed_at)
                select ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'Zoe ' || n, null, now()
                  from generate_series(1, 150) n
                """)
            let zoe = try await search(desk, "zoe", some)
            #expect(hits(zoe).count == 1 && zoe.object?.bool("isMore") == false, "\(zoe.body)")
            #expect(try await search(desk, "zoe", all).object?.bool("isMore") == true)
            let own = try await search(desk, "person-1", some)
            #expect(hits(own).count == 1 && !own.body.contains(Desk.other), "\(own.body)")
            // What was found before the apps changed is not shown afterwards.
            let id = try #require(try await search(desk, "10003", all).object?.string("id"))
            _ = try await desk.staff.add("support.0@example.com", as: .support, of: [Desk.app], by: "cli:test")
            try await desk.tokens.read()
            let later = try await desk.get("/admin/search/\(id)", all)
            #expect(later.status == 200 && hits(later).isEmpty && !later.body.contains(Desk.other), "\(later.body)")
        }
    }

    @Test("What is wrong with it is 400, and what a database would not take leads to nothing")
    func badInput() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.viewer).token
            for body in [
                "{}", #"{"text": ""}"#, #"{"text": " \n"}"#, #"{"text": 7}"#, #"{"text": "a", "kind": "token"}"#,
                #"{"text": "a", "environment": "production"}"#, #"{"text": "a\u0000b"}"#, "[]", "",
                #"{"text": "\#(String(repeating: "a", count: 1001))"}"#,
            ] {
                #expect(try await desk.post("/admin/search", token, body).status == 400, "\(body.prefix(60))")
            }
            for text in [
                "'; drop table x; --", "%", "_", #"\"#, "\u{202E}abc", "token:00000000-0000-0000-0000-000000000000",
                String(repeating: "é", count: 1000), "ORD-", "ord-2026013", "ORD-99999999-9999",
            ] {
                let answer = try await search(desk, text, token)
                #expect(answer.status == 200 && hits(answer).isEmpty || text == "ORD-", "\(text.prefix(40))")
            }
            #expect(try await desk.post("/admin/search", nil, #"{"text": "a"}"#).status == 401)
            let kept: Int64 = try await desk.observer.query("select count(*) from storehook.searches").one().decode(0)
            #expect(kept == 10)
        }
    }
}
