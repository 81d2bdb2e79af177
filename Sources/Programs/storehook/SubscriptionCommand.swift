import AppStorePayloads
import ArgumentParser
import Base
import Foundation
import Operations
import PurchaseStore

struct SubscriptionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscription",
        abstract: "Show a purchase at an instant, and the story that explains it.",
        discussion: """
            The story shows what happened, in the order in which Apple signed it, with each status by all that is known now: it
            is the same whatever arrived when. --as-learned shows the other story, for audits: what was learned when, and what
            was believed then. --known-at shows what had been applied by an instant, as if nothing had come since: it is refused for the
            future, and for a time whose evidence was dropped (STOREHOOK_RETENTION_DAYS). Prints a table on a terminal and JSON elsewhere, unless --format says otherwise.

            Example: storehook subscription 2000000123456789 --at 2026-01-31T12:00:00Z
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The original transaction's id.") var originalTransactionID: String
    @Option(help: "The instant, ISO 8601 in UTC; now by default.", transform: Timestamp.argument) var at: Timestamp?
    @OptionGroup var knowledge: KnowledgeOptions
    @Flag(help: "Show in which order it was learned, and what was believed then.") var asLearned = false
    @OptionGroup var output: Output

    func validate() throws {
        if at != nil || knowledge.knownAt != nil, asLearned {
            throw ValidationError(
                "--as-learned shows every belief at its own time: leave out --at and --known-at")
        }
    }

    func run() async throws {
        let known = knowledge.knownAt
        let instant = at ?? known ?? WallClock.now()
        let id = originalTransactionID
        let settings = try await shared.settings()
        let policy = try settings.statusPolicy()
        if asLearned {
            let beliefs = try await Database.with(settings) {
                try await LedgerReader($0, policy: policy).asLearned(of: id)
            }
            guard !beliefs.isEmpty else { throw nothing(about: id) }
            return output.print(CommandAnswer(of: id, asKnownThen: beliefs))
        }
        let (subscriptions, bought, stories) = try await Database.with(settings) { pool in
            let reader = LedgerReader(pool, policy: policy)
            if let known {
                do { return try await reader.then(of: id, at: instant, knownAt: known) } catch let refusal
                    as KnowledgeThen.Refusal
                { throw CommandFailure("\(refusal)") }
            }
            return (
                try await reader.status(of: id, at: instant), try await reader.oneTimePurchases(of: id),
                try await reader.story(of: id)
            )
        }
        guard !subscriptions.isEmpty || !bought.isEmpty || stories.contains(where: { !$0.entries.isEmpty }) else {
            if let known { throw CommandFailure("nothing was known of original transaction \(id) by \(known)") }
            throw nothing(about: id)
        }
        output.print(CommandAnswer(at: instant, knownAt: known, subscriptions, bought, stories))
    }

    private func nothing(about id: String) -> CommandFailure {
        CommandFailure(
            "nothing is known of original transaction \(id); storehook refresh \(id) asks Apple, with a key for its Server API"
        )
    }
}
