import AppleRecords
import ArgumentParser
import Base
import Operations

struct DueList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List what was due and was not heard of, the latest first.",
        discussion: """
            As counted last: of the last three days, and of the time before, the
            latest 10000 each. storehook refresh asks Apple about a purchase.

            Example: storehook due list --age 6h
            """)

    @OptionGroup var shared: SharedOptions
    @Option(help: "1h, 6h, 24h, 3d or older.", transform: DueAge.word) var age: DueAge?
    @Option(help: "Of this app (bundle id).") var app: String?
    @Flag(help: "Imported purchases that Apple never spoke of, in the place of the others.") var imported = false
    @OptionGroup var pages: PageOptions
    @OptionGroup var output: ListOutput

    func validate() throws {
        _ = try cursor
    }

    private var cursor: ListCursor? {
        get throws {
            let cursor = try pages.cursor(parts: DueEnds.cursorParts)
            guard cursor.map({ DueEnds.isCursor($0) }) ?? true else {
                throw ValidationError("--after takes what a page before gave as next")
            }
            return cursor
        }
    }

    func run() async throws {
        var filter = DueFilter()
        (filter.age, filter.apps, filter.isImported) = (age, app.map { Set([$0]) }, imported)
        let (asked, cursor) = (filter, try cursor)
        let page = try await Database.with(try await shared.settings()) { pool in
            let ends = DueEnds(pool)
            return try await pages.read(after: cursor) { try await ends.list(asked, after: $0, limit: $1) }
        }
        output.print(CommandAnswer(page), next: page.next)
    }
}
