import APIKit
import AccountStore
import Accounts
import AppStorePayloads
import Base
import HTTPTypes
import Logging
import Operations
import Staff

extension AdminHandlers {
    /// Notes about customers, the latest first.
    var noteList: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/notes", "listNotes",
            "What staff wrote about customers, the latest first; for staff of all apps of the catalog.", for: .staff,
            successes: [notePages(about: nil).success("StaffNotePage", "A page of notes.")]
        ) { request in
            let member = try await member(request, for: .read)
            guard try await hasAccounts(member) else { throw try await problem(.otherApps, request, member) }
            var token: UniqueIdentifier?
            if let text = request.query["account"] { token = try await namedAccount(text).token }
            let instant = try Self.instant("at", request)
            return try await notePages(about: token, by: request.query["by"], at: instant).answer(request, self)
        }
        endpoint.query =
            AdminList<ShownStaffNote>.query + Opening.query + [
                .init(
                    "account", .string(.init(1, 1000)),
                    "Only about this account: its id, or token: and its appAccountToken."),
                .init(
                    "by", .string(.init(1, 210)),
                    "Only by this actor, such as staff:7 or cli:anna; a page looks through \(AccountStore.mostNotesLookedThrough) notes at most."
                ),
                Self.at(
                    "Those that there were at this instant, such as 2026-01-31T12:00:00Z; all by default. What an erasure has taken since is gone."
                ),
            ]
        endpoint.refusesFitting =
            "after is next of a page before, account names one, at is an instant, a file of opened texts has a reason"
        return endpoint
    }

    private func notePages(
        about token: UniqueIdentifier?, by person: String? = nil, at instant: Timestamp? = nil
    ) -> AdminList<ShownStaffNote> {
        AdminList(
            name: "notes", shape: AdminShapes.note,
            subject: token.map { (kind: "account", reference: "\($0)") } ?? (kind: "notes", reference: "list"),
            cursorParts: AccountStore.noteCursorParts, takes: { Int64($0.parts[0]) != nil },
            openedTexts: { $0.openedTexts }
        ) { [accounts] opening, cursor, limit in
            try await accounts.notes(about: token, by: person, at: instant, after: cursor, limit: limit).map {
                ShownStaffNote($0, isOpen: opening.isOpen)
            }
        }
    }

    /// A new note.
    var noteAdd: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .post, "/admin/notes", "addNote", "Adds a note about a customer, for colleagues.", for: .staff,
            successes: [.init(.created, "It is on record.", AdminShapes.note.schema)]
        ) { request in
            let body = try Self.body(request)
            let member = try await member(request, for: .addNote)
            let text = try Self.text(body.string("note"), "note")
            let account = try await namedAccount(body.string("account") ?? "")
            guard let note = try await accounts.addNote(text, about: account, by: member.actor) else {
                throw Self.noAccount
            }
            return APIAnswer(
                .created, AdminShapes.note.value(of: ShownStaffNote(note)),
                log: ["app_account_token": "\(account.token)", "note": "\(note.id)"])
        }
        endpoint.body = APIBody(
            .named(
                "AddNoteRequest",
                .strict(
                    StrictObject(
                        what: "a note",
                        members: [
                            .required(
                                "account", .string(.init(1, 1000)),
                                "The customer's: an id, or token: and an appAccountToken."),
                            .required(
                                "note", .string(.init(1, AccountStore.longestNote)),
                                "Personal text: an erasure of the account takes it."),
                        ]))), most: 16 << 10)
        endpoint.problems = [.notFound]
        endpoint.refusesFitting = "a note is not blank, and account names one"
        endpoint.isLogged = true
        return endpoint
    }
}
