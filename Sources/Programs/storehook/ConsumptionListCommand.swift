import AppleRecords
import ArgumentParser
import Base
import Operations
import Postgres

struct ConsumptionListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Apple's requests for consumption data, by deadline, and what became of each.",
        discussion: """
            What is open waits for a consent, a rule of the policy, a key or Apple; the list says which. After its deadline, 12
            hours after Apple signed it, nothing is sent.

            Example: storehook consumption list --days 1 --state open
            """)

    @OptionGroup var shared: SharedOptions
    @Option(help: "Those that Apple signed within so many days.") var days = 7
    @Option(help: "open, sending, answered, late, refused, not_answered or unknown.")
    var state: ListedConsumptionRequest.State?
    @OptionGroup var past: PastOptions
    @Option(help: "At most so many, the latest.") var limit = 1000
    @OptionGroup var output: Output

    func validate() throws {
        try (1...36_500).check(days, "--days")
        try (1...100_000).check(limit, "--limit")
    }

    func run() async throws {
        var filter = ConsumptionFilter()
        (filter.days, filter.state, filter.at) = (days, state, past.at)
        let asked = filter
        let page = try await Database.with(try await shared.settings()) { pool in
            try await ConsumptionRequests(pool).list(asked, limit: limit, lookingThrough: nil)
        }
        output.print(CommandAnswer(Array(page.elements.reversed())))
    }
}

extension ListedConsumptionRequest.State: ExpressibleByArgument {}
