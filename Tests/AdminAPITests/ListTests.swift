import AppStorePayloads
import AuditStore
import Foundation
import NIOHTTP1
import Postgres
import Staff
import TestSupport
import Testing

@testable import AdminAPI

/// Pages and files.
struct ListTests {
    @Test("A list has pages of 25, each behind the one before, and the whole of it as CSV and as lines of JSON")
    func pages() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.viewer).token
            try await desk.buy(
                (10..<70).map { number in
                    Desk.entry(Desk.purchase(number), "basic", for: Desk.token(number), number: number)
                })
            var (accounts, sizes): ([String], [Int]) = ([], [])
            var after = ""
            while true {
                let page = try await desk.get("/admin/subscriptions?environment=Production\(after)", token)
                let object = try #require(page.object)
                sizes.append(object.elementCount("accounts") ?? -1)
                accounts += page.body.matches(of: /"appAccountToken":"([^"]+)"/).map { String($0.output.1) }
                guard let next = object.string("next") else { break }
                after = "&after=\(next)"
            }
            #expect(sizes == [25, 25, 12] && accounts.count == 62 && Set(accounts).count == 62)
            #expect(accounts == accounts.sorted())
            let csv = try await desk.get("/admin/subscriptions?format=csv", token)
            let lines = csv.body.split(separator: "\n")
            #expect(csv.headers.first(name: "Content-Type")?.hasPrefix("text/csv") == true)
            #expect(lines.count == 63 && lines[0].hasPrefix("account,appAccountToken,environment,tier,"))
            let objects = try await desk.get("/admin/subscriptions?format=ndjson", token).body.split(separator: "\n")
            #expect(objects.count == 62)
            for line in objects {
                #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any])
            }
            for wrong in ["after=x", "after=a/b/c", "limit=0", "limit=201", "format=xml", "status=gold", "open=1"] {
                #expect(try await desk.get("/admin/subscriptions?\(wrong)", token).status == 400, "\(wrong)")
            }
            for wrong in ["after=x", "from=yesterday", "subject=x", "account=00000000-0000-0000-0000-000000000000"] {
                #expect(try await desk.get("/admin/audit?\(wrong)", token).status == 400, "\(wrong)")
            }
        }
    }

    @Test("A file of more rows than are read at a time has each once, the rows that the export itself adds left out")
    func portions() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.support).token
            try await desk.observer.query(
                """
                insert into storehook.staff_acts (token, kind, recorded_by, why)
                select gen_random_uuid(), 'revoke', 'cli:test', 'why ' || n from generate_series(1, 2500) n
                """)
            let last = try await desk.audit.tail().place
            let csv = try await desk.get("/admin/audit?format=csv&open=true&reason=yearly%20report", token)
            let places = csv.body.split(separator: "\n").dropFirst().compactMap {
                Int64($0.prefix { $0 != "," })
            }
            #expect(places == (1...last).reversed())
            // A row for each portion, before it was sent.
            let rows = try await desk.rows(after: last)
            #expect(rows.map(\.act) == Array(repeating: "export_personal_text", count: 3))
            let counts = rows.compactMap { $0.after?.firstMatch(of: /"opened": (\d+)/).flatMap { Int64($0.output.1) } }
            #expect(counts.reduce(0, +) >= 2500)
        }
    }

    @Test("Texts that a spreadsheet would run begin with an apostrophe, and control characters do not arrive")
    func formulas() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.admin).token
            for reason in [#"=HYPERLINK(\"http://evil\")"#, "+1+1", "-2", "@SUM(A1)", #"a\r\n=1+1"#] {
                let done = try await desk.post(
                    "/admin/subscriptions/person-1/grant", token,
                    #"{"tier": "premium", "days": 1, "reason": "\#(reason)"}"#)
                #expect(done.status == 200, "\(reason): \(done.body)")
            }
            let csv = try await desk.get("/admin/audit?act=grant&format=csv&open=true&reason=%3D1", token)
            let lines = csv.body.split(separator: "\n")
            #expect(lines.count == 6, "\(csv.body)")
            for line in lines {
                for cell in line.split(separator: ",") {
                    let text = cell.drop { $0 == "\"" }
                    #expect(!(text.first.map { "=+@".contains($0) } ?? false), "\(line)")
                }
            }
            #expect(csv.body.contains(#""'=HYPERLINK(""http://evil"")""#) && csv.body.contains(#""'@SUM(A1)""#))
            // The account's id is a customer's.
            _ = try await desk.post(
                "/admin/subscriptions/=1+1/grant", token, #"{"tier": "premium", "days": 1, "reason": "why"}"#)
            let accounts = try await desk.get("/admin/subscriptions?format=csv&open=true&reason=x", token)
            #expect(accounts.body.contains("'=1+1") && !accounts.body.contains("\n=1+1"))
        }
    }

    @Test("No more than two files of a member are written at once")
    func slots() async throws {
        let slots = ExportSlots()
        var held = [try slots.slot(of: "cli:1"), try slots.slot(of: "cli:1")]
        #expect(throws: (any Error).self) { try slots.slot(of: "cli:1") }
        let others = try (2...7).map { try slots.slot(of: "cli:\($0)") }
        #expect(throws: (any Error).self) { try slots.slot(of: "cli:8") }
        held.removeLast()
        #expect((try? slots.slot(of: "cli:1")) != nil)
        _ = others
    }
}
