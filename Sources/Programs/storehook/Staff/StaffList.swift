import AccountStore
import ArgumentParser
import Operations

struct StaffList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the members of the staff.",
        discussion: "Example: storehook staff list --removed")

    @OptionGroup var shared: SharedOptions
    @Flag(help: "Also removed members.") var removed = false
    @OptionGroup var output: ListOutput

    func run() async throws {
        let members = try await Database.with(try await shared.settings()) {
            try await StaffMembers($0).list(withRemoved: removed)
        }
        output.print(CommandAnswer(members), next: nil)
    }
}
