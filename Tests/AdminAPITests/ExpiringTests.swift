import AccountStore
import AppStorePayloads
import AuditStore
import Base
import Foundation
import Postgres
import Staff
import TestSupport
import Testing

/// Whose access ends soon, for the desk: in it all of them have bought a month that is half over and does not renew.
struct ExpiringTests {
    private func buy(_ desk: RunningDesk, _ numbers: ClosedRange<Int>) async throws {
        try await desk.buy(
            numbers.map { Desk.entry(Desk.purchase($0), "basic", for: Desk.token($0), number: $0) })
        try await desk.observer.query(
            "update storehook.accounts set account = 'person-1' where token = \(UUID(Desk.token(1)))")
    }

    @Test("Every role reads them, the next first, in pages of 25; names are shortened, and opened on record")
    func pages() async throws {
        try await withDesk { desk in
            try await buy(desk, 11...40)
            for role in StaffRole.allCases {
                let (_, token) = try await desk.member(role)
                var (tokens, sizes, after): (Set<String>, [Int], String) = ([], [], "")
                while true {
                    let page = try await desk.get("/admin/expiring?days=20\(after)", token)
                    let object = try #require(page.object, "\(page.body)")
                    sizes.append(object.elementCount("accounts") ?? -1)
                    tokens.formUnion(
                        page.body.matches(of: /"appAccountToken":"([^"]+)"/).map { String($0.output.1) })
                    #expect(page.status == 200 && !page.body.contains("person-1"))
                    guard let next = object.string("next") else { break }
                    after = "&after=\(next)"
                }
                #expect(sizes == [25, 7] && tokens.count == 32, "\(role)")
                for (query, count) in [
                    ("", 0), ("days=10", 0), ("days=15&limit=200", 32), ("days=20&environment=Sandbox", 0),
                ] {
                    let found = try await desk.get("/admin/expiring?\(query)", token)
                    #expect(found.object?.elementCount("accounts") == count, "\(query): \(found.body)")
                }
            }
            let (_, viewer) = try await desk.member(.viewer)
            let (_, support) = try await desk.member(.support)
            #expect(try await desk.get("/admin/expiring?days=20&open=true", viewer).status == 403)
            let place = try await desk.place()
            let opened = try await desk.get("/admin/expiring?days=20&limit=200&open=true", support)
            #expect(opened.body.contains(#""account":"person-1""#), "\(opened.body)")
            let rows = try await desk.rows(after: place)
            #expect(rows.map(\.act) == ["open_personal_text"] && rows.first?.subject == "expiring")
            #expect(rows.first?.after?.contains(#""opened": 1"#) == true)
            let file = try await desk.get("/admin/expiring?days=20&format=csv", viewer)
            let lines = file.body.split(separator: "\n")
            #expect(lines.count == 33, "\(file.body)")
            #expect(
                lines.first
                    == "account,appAccountToken,tier,status,source,productId,bundleId,accessUntil,daysLeft")
            for wrong in ["days=-1", "days=3651", "environment=production", "after=x", "after=1/2", "limit=201"] {
                #expect(try await desk.get("/admin/expiring?\(wrong)", viewer).status == 400, "\(wrong)")
            }
            #expect(try await desk.get("/admin/expiring").status == 401)
        }
    }

    @Test("Staff of some apps see the accounts with a purchase of their apps, and no other app's product")
    func scope() async throws {
        try await withDesk { desk in
            try await buy(desk, 11...13)
            // What gives the first account its status is the other app's.
            try await desk.buy([Desk.entry(Desk.purchase(3, of: Desk.other), "best", for: Desk.token(1), number: 3)])
            let (_, some) = try await desk.member(.support, of: [Desk.app])
            let list = try await desk.get("/admin/expiring?days=20", some)
            #expect(list.object?.elementCount("accounts") == 4, "\(list.body)")
            #expect(list.body.contains("\(Desk.token(1))") && !list.body.contains("\(Desk.token(2))"))
            #expect(!list.body.contains(Desk.other) && !list.body.contains("best"), "\(list.body)")
            #expect(list.body.contains(#""productId":"basic""#) && list.body.contains(#""tier":"premium""#))
            let (_, all) = try await desk.member(.viewer, of: [Desk.app, Desk.other])
            let whole = try await desk.get("/admin/expiring?days=20", all)
            #expect(whole.object?.elementCount("accounts") == 5 && whole.body.contains(Desk.other))
        }
    }
}
