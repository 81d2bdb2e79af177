import AccountStore
import Accounts
import ArgumentParser
import AuditStore
import Base
import Operations

struct NotesList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List notes about customers, the latest first.",
        discussion: """
            Accounts and texts are shortened; --open shows them, on record. The text of an account that was erased is gone. In csv, texts
            that a spreadsheet would run begin with an apostrophe.

            Example: storehook notes list --account user-42 --open
            """)

    @OptionGroup var shared: SharedOptions
    @Option(help: "Only about this account: its id, or token: and its appAccountToken.") var account: AccountReference?
    @Option(help: "Only by this actor, such as staff:7 or cli:anna.") var by: String?
    @OptionGroup var past: PastOptions
    @OptionGroup var opening: OpeningOptions
    @OptionGroup var pages: PageOptions
    @OptionGroup var output: ListOutput

    func validate() throws {
        try account?.validate()
        _ = try cursor
    }

    private var cursor: ListCursor? {
        get throws {
            let cursor = try pages.cursor(parts: AccountStore.noteCursorParts)
            guard cursor.map({ Int64($0.parts[0]) != nil }) ?? true else {
                throw ValidationError("--after takes what a page before gave as next")
            }
            return cursor
        }
    }

    func run() async throws {
        let settings = try await shared.settings()
        let page = try await Database.with(settings) { pool in
            let store = AccountStore(pool)
            let token = try await Database.token(account, pool, settings)
            let page = try await pages.read(after: try cursor) {
                try await store.notes(about: token, by: by, at: past.at, after: $0, limit: $1)
            }.map { ShownStaffNote($0, isOpen: opening.open) }
            try await opening.note(page.elements.reduce(0) { $0 + $1.openedTexts }, isExport: false, AuditLog(pool))
            return page
        }
        output.print(CommandAnswer(page), next: page.next)
    }
}
