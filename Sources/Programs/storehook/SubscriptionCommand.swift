import AppStorePayloads
import ArgumentParser
import Foundation
import Ledger
import Operations

struct SubscriptionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscription",
        abstract: "Show a subscription at an instant, and the timeline that explains it.",
        discussion: """
            The status is derived from all facts known now; the timeline tells when each of them became known.

            Example: storehook subscription 2000000123456789 --at 2026-01-31T12:00:00Z
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The original transaction's id.") var originalTransactionID: String
    @Option(help: "The instant, ISO 8601 in UTC; now unless told.") var at: String?
    @Option(help: "table or json.") var format = OutputFormat.table

    func validate() throws {
        if let at, Timestamp(iso8601: at) == nil {
            throw ValidationError("--at takes a date like 2026-01-31 or 2026-01-31T12:00:00Z")
        }
    }

    func run() async throws {
        let instant = at.flatMap(Timestamp.init(iso8601:)) ?? WallClock.now()
        let id = originalTransactionID
        let answer = try await Database.with(try await shared.settings()) { pool in
            let reader = LedgerReader(pool)
            return SubscriptionAnswer(
                at: instant, try await reader.status(of: id, at: instant), try await reader.timeline(of: id))
        }
        guard !answer.timeline.isEmpty || !answer.lines.isEmpty else {
            throw CommandFailure("nothing is known of original transaction \(id)")
        }
        switch format {
        case .json: print(try JSONText.encode(answer))
        case .table: print(answer.text)
        }
    }
}
