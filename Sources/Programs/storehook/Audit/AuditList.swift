import Accounts
import AppStorePayloads
import ArgumentParser
import AuditStore
import Base
import Operations

struct AuditList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List what staff did, the latest first.",
        discussion: """
            Filters add up. What was done to one account or thing an index finds; otherwise one page looks through 10000 rows at most,
            so that it may have few or none and still name the place where to go on (next). --all goes on by itself.

            Account ids, names and reasons are shortened; --open shows them, on record. Those of an account that was erased are gone.
            In csv, texts that a spreadsheet would run begin with an apostrophe.

            Example: storehook audit list --act grant --from 2026-01-01
            """)

    @OptionGroup var shared: SharedOptions
    @Option(help: "Only about this account: its id, or token: and its appAccountToken.") var account: AccountReference?
    @Option(help: "Only about this thing: a kind, a colon and its number or id, such as purchase:2000000123456789.")
    var subject: String?
    @Option(help: "Only by this actor, as the list names it, such as cli:anna.") var actor: String?
    @Option(help: "Only acts of this kind, such as grant.") var act: String?
    @Option(help: "Only of this app (bundle id).") var app: String?
    @Option(help: "Apple's name of the environment; all by default.", transform: Environment.argument)
    var environment: Environment?
    @Option(
        help: "Only those from this instant on, such as 2026-01-31 or 2026-01-31T12:00:00Z.",
        transform: Timestamp.argument) var from: Timestamp?
    @Option(help: "Only those before this instant.", transform: Timestamp.argument) var to: Timestamp?
    @OptionGroup var past: PastOptions
    @OptionGroup var opening: OpeningOptions
    @OptionGroup var pages: PageOptions
    @OptionGroup var output: ListOutput

    func validate() throws {
        try account?.validate()
        _ = try (cursor, subjectParts)
        guard account == nil || subject == nil else { throw ValidationError("say --account or --subject, not both") }
    }

    private var cursor: ListCursor? {
        get throws {
            let cursor = try pages.cursor(parts: AuditLog.cursorParts)
            guard cursor.map({ Int64($0.parts[0]) != nil }) ?? true else {
                throw ValidationError("--after takes what a page before gave as next")
            }
            return cursor
        }
    }

    private var subjectParts: (String, String)? {
        get throws {
            guard let subject else { return nil }
            guard let colon = subject.firstIndex(of: ":"), colon != subject.startIndex else {
                throw ValidationError("--subject takes a kind, a colon and a number or id")
            }
            return (String(subject[..<colon]), String(subject[subject.index(after: colon)...]))
        }
    }

    func run() async throws {
        let settings = try await shared.settings()
        let page = try await Database.with(settings) { pool in
            var filter = AuditFilter()
            filter.account = try await Database.token(account, pool, settings)
            filter.subject = try subjectParts.map { (kind: $0, reference: $1) }
            (filter.actor, filter.act, filter.app) = (actor, act, app)
            filter.environment = environment?.rawValue
            (filter.from, filter.to, filter.at) = (from, to, past.at)
            let (log, asked) = (AuditLog(pool), filter)
            let page = try await pages.read(after: try cursor) { try await log.list(asked, after: $0, limit: $1) }
                .map { ShownAuditRow($0, isOpen: opening.open) }
            try await opening.note(page.elements.reduce(0) { $0 + $1.openedTexts }, isExport: false, log)
            return page
        }
        output.print(CommandAnswer(page), next: page.next)
    }
}
