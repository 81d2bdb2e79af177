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
        discussion: "Example: storehook dead-letters list --since 2026-01-31T03:00:00Z --format json")

    @OptionGroup var shared: SharedOptions
    @Option(help: "Only with this reason code.") var reason: String?
    @Option(help: "Only of this notification type.") var type: String?
    @Option(help: "Only of this app (bundle id), as the letters say themselves.") var app: String?
    @Option(help: "Only with this text in type, reason, message, app or UUID, in any case.") var text: String?
    @Option(help: "Only buried since then (ISO 8601, UTC).", transform: Timestamp.argument) var since: Timestamp?
    @OptionGroup var list: ListLimit
    @OptionGroup var output: Output

    func run() async throws {
        let filter = DeadLetterFilter(
            reason: reason, type: type, since: since.map(PostgresTimestamp.init), bundleID: app, text: text)
        let (letters, counts) = try await Database.with(try await shared.settings()) { pool in
            let outbox = Outbox(pool)
            return (try await outbox.deadLetters(filter, limit: list.limit), try await outbox.deadLetterCounts(filter))
        }
        output.print(CommandAnswer(letters, counts: counts))
    }
}
