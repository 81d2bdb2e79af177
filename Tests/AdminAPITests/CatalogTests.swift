import AccountStore
import AppStorePayloads
import AuditStore
import Base
import Foundation
import Postgres
import Staff
import TestSupport
import Testing

/// The catalog, from the desk.
struct CatalogTests {
    /// By it the first app's product gives another tier.
    private static let other = Desk.catalog.replacing("tier: pro", with: "tier: premium")

    private func body(_ catalog: String, reason: String? = nil) throws -> String {
        var members = ["catalog": catalog]
        members["reason"] = reason
        return String(decoding: try JSONEncoder().encode(members), as: UTF8.self)
    }

    @Test("Every role reads the current one, word for word; staff of some of its apps do not")
    func show() async throws {
        try await withDesk { desk in
            for role in StaffRole.allCases {
                let shown = try await desk.get("/admin/catalog", try await desk.member(role).token)
                #expect(shown.status == 200 && shown.object?.string("source") == Desk.catalog, "\(shown.body)")
                #expect(shown.object?.integer("version") == 1 && shown.object?.string("appliedBy") == "cli:test")
                #expect(shown.body.contains(#""preparing":null"#))
            }
            let (_, some) = try await desk.member(.admin, of: [Desk.app])
            let refused = try await desk.get("/admin/catalog", some)
            #expect(refused.status == 403 && refused.code == "forbidden", "\(refused.body)")
            let (_, all) = try await desk.member(.viewer, of: [Desk.app, Desk.other])
            #expect(try await desk.get("/admin/catalog", all).status == 200)
            #expect(try await desk.get("/admin/catalog").status == 401)
        }
    }

    @Test("At an instant it is the one that was current then")
    func then() async throws {
        try await withDesk { desk in
            let (_, token) = try await desk.member(.viewer)
            _ = try await AccountStore(desk.observer).apply(Self.other, by: "cli:kim")
            for statement in [
                """
                update storehook.catalogs
                   set applied_at = now() - (15 - 5 * version) * interval '1 day',
                       current_from = case version when 1 then '-infinity' else now() - interval '4 days' end
                """,
                // One that was never current.
                "insert into storehook.catalogs (source, applied_at, applied_by) values ('x', now() - interval '3 days', 'cli:kim')",
            ] as [PostgresQuery] { try await desk.observer.query(statement) }
            for (hours, version) in [(241, nil), (108, 1), (90, 2), (1, 2)] as [(Int64, Int64?)] {
                let at = Timestamp(try await desk.now()).adding(seconds: -3600 * hours)
                let shown = try await desk.get("/admin/catalog?at=\(at)", token)
                #expect(shown.status == (version == nil ? 409 : 200), "\(hours) hours ago: \(shown.body)")
                guard let version else { continue }
                #expect(shown.object?.integer("version") == version, "\(hours) hours ago: \(shown.body)")
                #expect(shown.object?.string("source") == (version == 1 ? Desk.catalog : Self.other))
            }
            #expect(try await desk.get("/admin/catalog", token).object?.integer("version") == 2)
            #expect(try await desk.get("/admin/catalog?at=yesterday", token).status == 400)
        }
    }

    @Test("What another one would change is said to admins of all apps, and nothing is changed")
    func diff() async throws {
        try await withDesk { desk in
            try await desk.observer.query(
                "update storehook.accounts set account = 'person-1' where token = \(UUID(Desk.token(1)))")
            let (_, admin) = try await desk.member(.admin)
            let place = try await desk.place()
            let diff = try await desk.post("/admin/catalog/diff", admin, try body(Self.other))
            #expect(diff.status == 200 && diff.object?.integer("changed") == 1, "\(diff.body)")
            for part in [
                #""part":"product""#, #""member":"tier""#, #""before":"pro","after":"premium""#, #""accounts":1"#,
                #""complete":true"#, #""account":"pe…""#, #""appAccountToken":"\#(Desk.token(1))""#,
            ] {
                #expect(diff.body.contains(part), "\(part): \(diff.body)")
            }
            #expect(try await desk.rows(after: place).isEmpty)
            let opened = try await desk.post("/admin/catalog/diff?open=true", admin, try body(Self.other))
            #expect(opened.body.contains(#""account":"person-1""#))
            #expect(try await desk.rows(after: place).map(\.act) == ["open_personal_text"])
            let same = try await desk.post("/admin/catalog/diff", admin, try body(Desk.catalog + "\n# the same\n"))
            #expect(same.object?.elementCount("changes") == 0 && same.object?.integer("accounts") == 0)
            let lacking = Desk.catalog.replacing(#/ +- \{id: best.*/#, with: "")
            let unsold = try await desk.post("/admin/catalog/diff", admin, try body(lacking))
            #expect(unsold.object?.elementCount("unsoldProducts") == 1, "\(unsold.body)")
            #expect(try await desk.get("/admin/catalog", admin).object?.integer("version") == 1)
            let others: [(StaffRole, [String]?)] = [(.support, nil), (.admin, [Desk.app, Desk.other])]
            for (role, apps) in others {
                let (_, token) = try await desk.member(role, of: apps)
                #expect(try await desk.post("/admin/catalog/diff", token, try body(Self.other)).status == 403)
            }
        }
    }

    @Test("One is applied once, for a reason that is on record; the same again is no new version")
    func apply() async throws {
        try await withDesk { desk in
            let (member, admin) = try await desk.member(.admin)
            let (_, some) = try await desk.member(.admin, of: [Desk.app, Desk.other])
            #expect(try await desk.post("/admin/catalog/apply", some, try body(Self.other, reason: "x")).status == 403)
            let place = try await desk.place()
            let applied = try await desk.post(
                "/admin/catalog/apply", admin, try body(Self.other, reason: "spring prices"))
            #expect(applied.status == 200 && applied.object?.integer("version") == 2, "\(applied.body)")
            #expect(applied.object?.bool("isNew") == true && applied.object?.integer("changed") == 1)
            let rows = try await desk.rows(after: place)
            #expect(rows.map(\.act) == ["apply_catalog"] && rows.first?.actor == member.actor)
            #expect(rows.first?.text.members["why"] == "spring prices" && rows.first?.subject == "2")
            let again = try await desk.post("/admin/catalog/apply", admin, try body(Self.other, reason: "once more"))
            #expect(again.object?.bool("isNew") == false && again.object?.integer("version") == 2, "\(again.body)")
            #expect(try await desk.rows(after: place).count == 1)
            let account = try await desk.get("/admin/subscriptions/person-1", admin)
            #expect(account.object?.string("tier") == "premium", "\(account.body)")
            #expect(try await desk.audit.verify().fault == nil)
        }
    }

    @Test("A file that cannot be used is 422 with all that is wrong with it, and leaves no row")
    func unusable() async throws {
        try await withDesk { desk in
            let (_, admin) = try await desk.member(.admin)
            let before = try await desk.audit.tail()
            for path in ["/admin/catalog/diff", "/admin/catalog/apply"] {
                let reason = path.hasSuffix("apply") ? "why" : nil
                for text in ["tiers: x", "{", "\u{0}", String(repeating: "a: b\n", count: 1000), " "] {
                    let answer = try await desk.post(path, admin, try body(text, reason: reason))
                    #expect([422, 400].contains(answer.status), "\(path) \(text.prefix(20)): \(answer.body)")
                    if answer.status == 422 {
                        #expect(answer.code == "catalog_unusable")
                        #expect((answer.object?.elementCount("findings") ?? 0) > 0, "\(answer.body)")
                    }
                }
                #expect(try await desk.post(path, admin, "{}").status == 400)
            }
            #expect(try await desk.post("/admin/catalog/apply", admin, try body(Self.other)).status == 400)
            #expect(try await desk.post("/admin/catalog/apply", admin, try body(Self.other, reason: " ")).status == 400)
            #expect(try await desk.audit.tail() == before)
        }
    }
}
