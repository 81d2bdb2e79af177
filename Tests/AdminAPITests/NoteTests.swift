import AccountStore
import Accounts
import AppStorePayloads
import AuditStore
import Base
import Pipeline
import Postgres
import Staff
import TestSupport
import Testing

/// What staff writes about customers, from the desk.
struct NoteTests {
    private func add(
        _ desk: RunningDesk, _ token: String?, _ note: String, about account: String = "person-1"
    ) async throws -> Answer {
        try await desk.post("/admin/notes", token, #"{"account": "\#(account)", "note": "\#(note)"}"#)
    }

    @Test("Support and admins write, on record; a viewer's try is 403, changes nothing, and is counted")
    func roles() async throws {
        try await withDesk { desk in
            let (_, viewer) = try await desk.member(.viewer)
            let before = try await desk.place()
            let refused = try await add(desk, viewer, "called about the invoice")
            #expect(refused.status == 403 && refused.code == "forbidden", "\(refused.body)")
            #expect(try await desk.rows(after: before).isEmpty)
            for role in [StaffRole.support, .admin] {
                let (member, token) = try await desk.member(role)
                let place = try await desk.place()
                let note = try await add(desk, token, "called about the invoice")
                #expect(note.status == 201 && note.object?.string("by") == member.actor, "\(note.body)")
                #expect(note.object?.string("appAccountToken") == "\(Desk.token(1))")
                #expect(!note.body.contains("invoice") && note.object?.string("note")?.hasPrefix("ca") == true)
                let rows = try await desk.rows(after: place)
                #expect(rows.map(\.act) == ["add_note"] && rows.first?.isProven == true)
                #expect(rows.first?.actor == member.actor && rows.first?.role == role.rawValue)
                #expect(rows.first?.subject == "\(Desk.token(1))" && rows.first?.subjectKind == "account")
                #expect(rows.first?.text.members["note"] == "called about the invoice")
            }
            try await desk.pass(minutes: 2)
            try await desk.observer.query("select storehook.record_forbidden_tries()")
            let tries = try await desk.audit.rows(after: 0, through: .max).filter { $0.act == "forbidden" }
            #expect(tries.map(\.subject) == ["POST /admin/notes"] && tries.first?.role == "viewer")
            #expect(try await desk.get("/admin/notes").status == 401)
            #expect(try await add(desk, nil, "x").status == 401)
            #expect(try await desk.audit.verify().fault == nil)
        }
    }

    @Test("Every role reads them shortened, the latest first, in pages of 25; opening takes support, and is on record")
    func reading() async throws {
        try await withDesk { desk in
            let (_, admin) = try await desk.member(.admin)
            for number in 1...28 {
                let about = number == 28 ? "token:\(Desk.token(2))" : "person-1"
                #expect(try await add(desk, admin, "told us \(number) times", about: about).status == 201)
            }
            let place = try await desk.place()
            for role in StaffRole.allCases {
                let (_, token) = try await desk.member(role)
                let first = try await desk.get("/admin/notes", token)
                #expect(first.object?.elementCount("notes") == 25 && !first.body.contains("times"), "\(first.body)")
                let next = try #require(first.object?.string("next"))
                let second = try await desk.get("/admin/notes?after=\(next)", token)
                #expect(second.object?.elementCount("notes") == 3 && second.object?.string("next") == nil)
                for (query, count) in [
                    ("account=person-1&limit=200", 27), ("account=token:\(Desk.token(2))", 1), ("account=person-9", 0),
                ] {
                    let found = try await desk.get("/admin/notes?\(query)", token)
                    #expect(found.object?.elementCount("notes") == count, "\(query): \(found.body)")
                }
            }
            #expect(try await desk.rows(after: place).allSatisfy { !$0.act.hasSuffix("personal_text") })
            let (_, viewer) = try await desk.member(.viewer)
            let (_, support) = try await desk.member(.support)
            #expect(try await desk.get("/admin/notes?open=true", viewer).status == 403)
            #expect(try await desk.get("/admin/notes?open=true&format=csv", support).status == 400)
            for (query, count, act, subject) in [
                ("open=true&account=person-1", 25, "open_personal_text", "account \(Desk.token(1))"),
                ("open=true&limit=1", 1, "open_personal_text", "notes list"),
                ("open=true&format=csv&reason=asked", 28, "export_personal_text", "notes list"),
            ] {
                let last = try await desk.place()
                let opened = try await desk.get("/admin/notes?\(query)", support)
                #expect(opened.body.contains("told us 2"), "\(query): \(opened.body)")
                let row = try #require(try await desk.rows(after: last).last)
                #expect(row.act == act && "\(row.subjectKind) \(row.subject)" == subject, "\(query)")
                #expect(row.after?.contains(#""opened": \#(count)"#) == true, "\(query): \(row.after ?? "")")
            }
            for wrong in ["after=x", "account=", "limit=0", "format=xml"] {
                #expect(try await desk.get("/admin/notes?\(wrong)", viewer).status == 400, "\(wrong)")
            }
        }
    }

    @Test("Staff of some apps neither write nor read them, with all apps of the catalog they do both")
    func scope() async throws {
        try await withDesk { desk in
            let (_, some) = try await desk.member(.admin, of: [Desk.app])
            let (_, all) = try await desk.member(.support, of: [Desk.app, Desk.other])
            #expect(try await add(desk, some, "called").status == 403)
            let refused = try await desk.get("/admin/notes", some)
            #expect(refused.status == 403 && refused.code == "forbidden", "\(refused.body)")
            #expect(try await desk.get("/admin/notes?account=person-1&open=true", some).status == 403)
            #expect(try await add(desk, all, "called").status == 201)
            #expect(try await desk.get("/admin/notes", all).object?.elementCount("notes") == 1)
        }
    }

    @Test("What is no note is refused and leaves no row; of an account that is not known there is none")
    func refusals() async throws {
        try await withDesk { desk in
            let (_, token) = try await desk.member(.support)
            let before = try await desk.audit.tail()
            for (body, status) in [
                (#"{"account": "person-1", "note": "  "}"#, 400), (#"{"account": "person-1", "note": ""}"#, 400),
                (#"{"account": "person-1"}"#, 400), (#"{"note": "called"}"#, 400),
                (#"{"account": "person-1", "note": "called", "reason": "why"}"#, 400),
                (#"{"account": "", "note": "called"}"#, 400), (#"{"account": "person-1", "note": 7}"#, 400),
                (#"{"account": "person-1", "note": "a\u0000b"}"#, 400),
                (#"{"account": "person-1", "note": "\#(String(repeating: "x", count: 1001))"}"#, 400),
                (#"{"account": "person-1", "note": "\#(String(repeating: "x", count: 70_000))"}"#, 413),
                (#"{"account": "person-9", "note": "called"}"#, 404), ("[]", 400), ("", 400),
            ] {
                let answer = try await desk.post("/admin/notes", token, body)
                #expect(answer.status == status, "\(body.prefix(60)): \(answer.body)")
            }
            #expect(try await desk.audit.tail() == before)
            let long = String(repeating: "é", count: 1000)
            #expect(try await add(desk, token, long).status == 201)
        }
    }

    @Test("Erasing the account takes the text, here and in the audit, whose chain holds")
    func erasure() async throws {
        try await withDesk { desk in
            let (_, token) = try await desk.member(.support)
            for person in ["person-1", "person-2"] {
                #expect(try await add(desk, token, "of \(person) alone", about: person).status == 201)
            }
            _ = try await EvidencePipeline(desk.observer).erase(AccountIdentity(named: "person-1"), by: "cli:test")
            let notes = try await desk.get("/admin/notes?open=true", token)
            #expect(notes.object?.elementCount("notes") == 2 && !notes.body.contains("person-1"), "\(notes.body)")
            #expect(notes.body.contains("of person-2 alone") && notes.body.contains(#""note":null"#))
            let audit = try await desk.get("/admin/audit?act=add_note&open=true", token)
            #expect(!audit.body.contains("person-1") && audit.body.contains("of person-2 alone"), "\(audit.body)")
            #expect(try await desk.audit.verify().fault == nil)
        }
    }
}
