import AppleRecords
import ArgumentParser
import Operations
import Staff

struct ExtensionsClose: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "close",
        abstract:
            "Give an extension of renewal dates up, for a reason that stays on record: workers follow it no longer.",
        discussion: """
            What Apple has taken on it does all the same. The same can then be asked for anew.

            Example: storehook extensions close 17 --why "Apple support: never arrived"
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "Its number.") var id: Int64
    @OptionGroup var reason: ReasonOption
    @OptionGroup var acting: ActingOptions
    @OptionGroup var output: Output

    func run() async throws {
        let answer = try await Database.with(try await shared.settings()) { pool in
            let extensions = RenewalExtensions(pool)
            guard try await extensions.close(id, by: try acting.actor(for: .discard), why: reason.why),
                let found = try await extensions.find(id)
            else {
                throw CommandFailure("there is no unfinished extension \(id): storehook extensions list --open")
            }
            return CommandAnswer(ShownExtension(found))
        }
        output.print(answer)
    }
}
