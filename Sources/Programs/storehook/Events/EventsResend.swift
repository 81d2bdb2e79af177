import ArgumentParser
import Base
import EventStore
import Operations
import Staff

struct EventsResend: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "resend",
        abstract: "Send events again: some, an account's, those of a time, or dead deliveries.",
        discussion: """
            To every endpoint that wants them, or to one; what is older than it too. Receivers know them by the same webhook-id as
            before. Each account's go in order, behind what waits. With --dead only deliveries that were given up are sent
            again. What is sent again goes on record, an act for each endpoint.

            Example: storehook events resend --endpoint 1 --since 2026-01-31T12:00:00Z
            """)

    @OptionGroup var shared: SharedOptions
    @OptionGroup var which: EventSelectionOptions
    @Flag(help: "Only deliveries that were given up.") var dead = false
    @Option(help: "Why, for the record.") var why: String?
    @OptionGroup var acting: ActingOptions
    @OptionGroup var output: Output

    func validate() throws {
        guard dead || which.namesEvents else {
            throw ValidationError("name events, --account, --since or --until, or say --dead")
        }
    }

    func run() async throws {
        let settings = try await shared.settings()
        let count = try await Database.with(settings) { pool in
            let store = EndpointStore(pool)
            try await which.refuseUnknown(store)
            let selection = try await which.selection(pool, settings)
            let person = try acting.actor(for: .changeEndpoints)
            guard dead else { return try await store.resend(selection, by: person, why: why) }
            return try await store.resendDead(selection, by: person, why: why)
        }
        output.print(
            CommandAnswer(
                ["resent": count.json],
                text: count == 0
                    ? "nothing to send again: no such event is kept and wanted, or it waits already"
                    : "\(count) deliveries are sent again; see storehook events deliveries"))
    }
}
