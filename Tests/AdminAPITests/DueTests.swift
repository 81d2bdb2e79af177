import AppStorePayloads
import AppleRecords
import Base
import Foundation
import Postgres
import Staff
import TestSupport
import Testing

/// What was due and was not heard of, for the desk.
struct DueTests {
    /// As a worker has counted it: of one app thirty and two imported ones, of the other three.
    private func fill(_ desk: RunningDesk) async throws {
        try await desk.observer.query(
            """
            insert into storehook.due_unheard (ends_at, bundle_id, original_transaction_id, kind, age, product_id, is_imported)
            select date_trunc('hour', now()) - interval '7 hours' - n * interval '1 minute',
                   case when n <= 32 then \(Desk.app) else \(Desk.other) end, (50000 + n)::text,
                   case when n % 2 = 0 then 'renewal' else 'trial' end, case when n = 1 then '24h' else '6h' end, 'basic', n in (31, 32)
              from generate_series(1, 35) n
            """)
        try await desk.observer.query(
            """
            insert into storehook.due_counts (bundle_id, age, unheard, imported)
            select bundle_id, age, count(*) filter (where not is_imported), count(*) filter (where is_imported)
              from storehook.due_unheard group by 1, 2
            """)
        try await desk.observer.query(
            "insert into storehook.due_days (bundle_id, due) values (\(Desk.app), 302), (\(Desk.other), 500)")
        try await desk.observer.query("update storehook.due_count_state set counted_at = date_trunc('second', now())")
    }

    private func read(_ desk: RunningDesk, _ token: String, _ query: String = "") async throws -> ReadDue {
        let answer = try await desk.get("/admin/due" + query, token)
        #expect(answer.status == 200, "\(answer.body)")
        return try JSONDecoder().decode(ReadDue.self, from: Data(answer.body.utf8))
    }

    @Test("Every role reads the numbers, null before the first count; staff of some apps read those of their apps")
    func numbers() async throws {
        try await withDesk { desk in
            let viewer = try await desk.member(.viewer).token
            let early = try await read(desk, viewer)
            #expect(early.ages.map(\.age) == ["1h", "6h", "24h", "3d", "older"])
            #expect(early.due == nil && early.ages.allSatisfy { $0.unheard == nil } && !early.alert)
            // A worker counts nothing in a desk's two subscriptions.
            #expect(try await DueEnds(desk.observer).count())
            let counted = try await read(desk, viewer)
            #expect(counted.due == 0 && counted.ages.allSatisfy { $0.unheard == 0 && $0.imported == 0 })

            try await fill(desk)
            let some = try await desk.member(.viewer, of: [Desk.app]).token
            for role in StaffRole.allCases {
                let all = try await read(desk, try await desk.member(role).token)
                #expect(all.ages.map { $0.unheard ?? -1 } == [0, 32, 1, 0, 0], "\(role)")
                #expect(all.ages.map { $0.imported ?? -1 } == [0, 2, 0, 0, 0] && all.due == 800 && !all.alert)
                #expect(all.ages.allSatisfy { $0.countedAt != nil } && all.dueCountedAt != nil)
            }
            for (token, query) in [(some, ""), (viewer, "?app=\(Desk.app)"), (some, "?app=\(Desk.app)")] {
                let own = try await read(desk, token, query)
                #expect(own.ages.map { $0.unheard ?? -1 } == [0, 29, 1, 0, 0], "\(query)")
                #expect(own.due == 300 && own.alert, "\(query)")
            }
            let others = try await read(desk, some, "?app=\(Desk.other)")
            #expect(others.due == 0 && others.ages.allSatisfy { $0.unheard == 0 })
            #expect(try await desk.get("/admin/due").status == 401)
            #expect(try await desk.send("POST", "/admin/due", viewer, "{}").status == 405)
        }
    }

    @Test("The list has pages of 25, the latest end first, filters that add up, and the whole of it as CSV")
    func list() async throws {
        try await withDesk { desk in
            try await fill(desk)
            let viewer = try await desk.member(.viewer).token
            let some = try await desk.member(.viewer, of: [Desk.other]).token
            var (ids, sizes, after): ([String], [Int], String) = ([], [], "")
            while true {
                let page = try await desk.get("/admin/due/ends?app=\(Desk.app)\(after)", viewer)
                let object = try #require(page.object, "\(page.body)")
                sizes.append(object.elementCount("ends") ?? -1)
                ids += page.body.matches(of: /"originalTransactionId":"([^"]+)"/).map { String($0.output.1) }
                guard let next = object.string("next") else { break }
                after = "&after=\(next)"
            }
            #expect(sizes == [25, 5] && ids == (1...30).map { "\(50_000 + $0)" })
            for (query, token, count) in [
                ("", viewer, 25), ("?limit=200", viewer, 33), ("?age=24h", viewer, 1),
                ("?age=6h&limit=200", viewer, 32), ("?age=older", viewer, 0), ("?imported=true", viewer, 2),
                ("?imported=true&age=24h", viewer, 0), ("", some, 3), ("?app=\(Desk.app)", some, 0),
                ("?imported=true", some, 0),
            ] {
                let found = try await desk.get("/admin/due/ends\(query)", token)
                #expect(found.status == 200 && found.object?.elementCount("ends") == count, "\(query): \(found.body)")
            }
            let file = try await desk.get("/admin/due/ends?format=csv", viewer)
            let lines = file.body.split(separator: "\n")
            #expect(lines.count == 34, "\(file.body)")
            #expect(lines[0] == "endsAt,age,kind,originalTransactionId,bundleId,productId,imported")
            for wrong in ["after=x", "after=1/2/3", "after=x/a/b/c", "age=2h", "imported=1", "limit=0"] {
                #expect(try await desk.get("/admin/due/ends?\(wrong)", viewer).status == 400, "\(wrong)")
            }
            #expect(try await desk.get("/admin/due/ends").status == 401)
        }
    }
}

/// What a client reads of it.
private struct ReadDue: Decodable {
    struct Age: Decodable {
        var age: String
        var unheard: Int64?
        var imported: Int64?
        var countedAt: String?
    }
    var ages: [Age]
    var due: Int64?
    var dueCountedAt: String?
    var alert: Bool
}
