import ArgumentParser
import Base
import EventStore
import Operations

struct EventsDeliveries: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deliveries",
        abstract: "List deliveries, the youngest first: what waits, what arrived, what was given up.",
        discussion: "Example: storehook events deliveries --account user-42 --endpoint 1")

    @OptionGroup var shared: SharedOptions
    @OptionGroup var which: EventSelectionOptions
    @Option(help: "Only those that are waiting, delivered or dead.") var outcome: DeliveryRecord.Outcome?
    @OptionGroup var past: PastOptions
    @OptionGroup var list: ListLimit
    @OptionGroup var output: Output

    func run() async throws {
        let settings = try await shared.settings()
        let found = try await Database.with(settings) { pool in
            let store = EndpointStore(pool)
            var selection = try await which.selection(pool, settings)
            selection.at = past.at
            let found = try await store.deliveries(selection, outcome: outcome, limit: list.limit).elements
            // What became of an event is kept longer than the event.
            if found.isEmpty { try await which.refuseUnknown(store) }
            return found
        }
        output.print(CommandAnswer(found))
    }
}

/// `--outcome dead`
extension DeliveryRecord.Outcome: ExpressibleByArgument {}
