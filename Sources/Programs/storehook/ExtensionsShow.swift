import AppleRecords
import ArgumentParser
import Base
import Operations

struct ExtensionsShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show an extension of renewal dates, step by step, and whom Apple could not extend.",
        discussion: "Example: storehook extensions show 17")

    @OptionGroup var shared: SharedOptions
    @Argument(help: "Its number.") var id: Int64
    @Option(help: "Name at most so many that could not be extended, 1 to 100000.") var limit = 1000
    @OptionGroup var past: PastOptions
    @OptionGroup var output: Output

    func validate() throws {
        try (1...100_000).check(limit, "--limit")
    }

    func run() async throws {
        let answer = try await Database.with(try await shared.settings()) { pool in
            let extensions = RenewalExtensions(pool)
            guard let found = try await extensions.find(id, at: past.at) else {
                let then = past.at.map { " that had been asked for by \($0)" } ?? ""
                throw CommandFailure("there is no extension \(id)\(then): storehook extensions list")
            }
            return CommandAnswer(
                ShownExtension(found, try await extensions.failures(of: id, limit: limit, at: past.at)))
        }
        output.print(answer)
    }
}
