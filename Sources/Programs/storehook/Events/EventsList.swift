import Accounts
import AppStorePayloads
import ArgumentParser
import Base
import EventStore
import Operations
import Postgres

struct EventsList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List events in the order in which all readers follow them: the last ones, or those after a cursor.",
        discussion: """
            JSON is a line for each event, as GET /v1/events lists it. With --follow it goes on with what comes, until Ctrl-C.

            Example: storehook events list --account user-42 --follow
            """)

    @OptionGroup var shared: SharedOptions
    @Option(help: "Those after this cursor; the last ones by default.") var after: Int64?
    @Option(help: "At most so many to begin with, 1 to 10000.") var limit = 100
    @Option(help: "Only of this account: its id, or token: and its appAccountToken.") var account: AccountReference?
    @Flag(help: "Go on with those that come.") var follow = false
    @Option(
        help: "The last ones that had been written by this instant, ISO 8601 in UTC.", transform: Timestamp.argument)
    var at: Timestamp?
    @OptionGroup var output: Output

    func validate() throws {
        try (1...10_000).check(limit, "--limit")
        guard after.map({ $0 >= 0 }) ?? true else { throw ValidationError("--after takes a cursor, 0 or more") }
        try account?.validate()
        guard at == nil || after == nil && !follow else {
            throw ValidationError("--at has the last events of an instant: leave out --after and --follow")
        }
    }

    func run() async throws {
        let isTable = output.isTable
        let settings = try await shared.settings()
        try await Database.with(settings) { pool in
            let token = try await Database.token(account, pool, settings)
            let events = EventStore(pool)
            if isTable { StandardOutput.line(EventLine.head) }
            var page = try await begin(events, token)
            try write(page, isTable)
            while follow {
                // Existing events are printed without a pause.
                if page.events.isEmpty { try await Task.sleep(for: .seconds(1)) }
                page = try await next(events, page.next, token)
                try write(page, isTable)
            }
        }
    }

    private func begin(_ events: EventStore, _ token: UniqueIdentifier?) async throws -> FeedPage {
        guard let after else { return try await events.latest(limit, of: token, at: at) }
        return try await next(events, after, token)
    }

    private func next(_ events: EventStore, _ cursor: Int64, _ token: UniqueIdentifier?) async throws -> FeedPage {
        do {
            guard let token else { return try await events.page(after: cursor, limit: limit) }
            return try await events.page(after: cursor, limit: limit, of: token)
        } catch FeedRefusal.gone(let oldest) {
            throw CommandFailure("the event after \(cursor) is not kept any more; those that are: --after \(oldest)")
        } catch FeedRefusal.ahead(let newest) {
            throw CommandFailure("there is no event \(cursor) in this database; the last one: \(newest)")
        }
    }

    /// - Throws: `OutputLoss`, where the reader is gone.
    private func write(_ page: FeedPage, _ isTable: Bool) throws {
        let lines = page.events.map { isTable ? EventLine($0).text : $0.listed }
        if !lines.isEmpty { StandardOutput.line(lines.joined(separator: "\n")) }
        try StandardOutput.check()
    }
}
