import AppStorePayloads
import ArgumentParser
import Base
import EvidenceStore
import Foundation
import Operations
import Postgres
import PurchaseStore

struct DeadLettersList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List open dead letters, the oldest first, and how many there are by reason.",
        discussion: """
            With --at, these are the newest of those that were open at that instant, and how many of them there are by reason where all of them
            are shown. With --at or --text it looks through \(Outbox.mostLettersLookedThrough) letters at most, and says on standard error where
            to go on (--after).

            Example: storehook dead-letters list --since 2026-01-31T03:00:00Z --format json
            """)

    @OptionGroup var shared: SharedOptions
    @Option(help: "Only with this reason code.") var reason: String?
    @Option(help: "Only of this notification type.") var type: String?
    @Option(help: "Only of this app (bundle id), as the letters say themselves.") var app: String?
    @Option(help: "Only with this text in type, reason, message, app or UUID, in any case.") var text: String?
    @Option(help: "Only buried since then (ISO 8601, UTC).", transform: Timestamp.argument) var since: Timestamp?
    @Option(help: "Those behind this place, which the list before has named.") var after: String?
    @OptionGroup var past: PastOptions
    @OptionGroup var list: ListLimit
    @OptionGroup var output: Output

    func validate() throws { _ = try cursor }

    private var cursor: ListCursor? {
        get throws {
            try after.map { text in
                guard let cursor = ListCursor(text, parts: Outbox.letterCursorParts), Int64(cursor.parts[0]) != nil
                else {
                    throw ValidationError("--after takes what a list before has named")
                }
                return cursor
            }
        }
    }

    func run() async throws {
        let filter = DeadLetterFilter(
            reason: reason, type: type, since: since.map(PostgresTimestamp.init), bundleID: app, text: text)
        let (page, counts) = try await Database.with(try await shared.settings()) {
            pool -> (ListPage<DeadLetter>, [(reason: String, count: Int64)]?) in
            let outbox = Outbox(pool)
            if let instant = past.at { return try await open(filter, at: instant, outbox) }
            let page = try await outbox.letters(
                filter, after: try cursor, limit: list.limit, isOldestFirst: true,
                lookingThrough: text == nil ? nil : Outbox.mostLettersLookedThrough)
            // No index knows a text: what has it is counted among the letters of the page alone.
            let counts = try await text == nil ? outbox.deadLetterCounts(filter) : nil
            return (page, counts)
        }
        output.print(CommandAnswer(page.elements, counts: counts))
        if let next = page.next {
            let looked = page.lookedThrough.map { "looked through \($0) letters; " } ?? ""
            StandardError.line("storehook: \(looked)the list goes on: --after \(next)")
        }
    }

    /// A page of those that were open, shown like all others, and how many there are, if it has all of them.
    private func open(
        _ filter: DeadLetterFilter, at instant: Timestamp, _ outbox: Outbox
    ) async throws -> (ListPage<DeadLetter>, [(reason: String, count: Int64)]?) {
        var page = try await outbox.letters(filter, .open, at: instant, after: try cursor, limit: list.limit)
        page.elements.reverse()
        guard after == nil, page.next == nil else { return (page, nil) }
        let counts = Dictionary(grouping: page.elements, by: \.reason).map {
            (reason: $0.key, count: Int64($0.value.count))
        }
        return (page, counts.sorted { ($1.count, $0.reason) < ($0.count, $1.reason) })
    }
}
