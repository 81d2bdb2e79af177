import ArgumentParser
import EvidenceStore
import Operations

struct JobsShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a job: what was asked for, how far it is, and what became of its letters.",
        discussion: "Example: storehook jobs show 3")

    @OptionGroup var shared: SharedOptions
    @Argument(help: "Its number.") var id: Int64
    @OptionGroup var list: ListLimit
    @OptionGroup var output: Output

    func run() async throws {
        let answer = try await Database.with(try await shared.settings()) { pool in
            let jobs = JobStore(pool)
            guard let job = try await jobs.job(id) else {
                throw CommandFailure("there is no job \(id); see storehook jobs list")
            }
            return CommandAnswer(job, try await jobs.items(of: id, limit: list.limit).elements)
        }
        output.print(answer)
    }
}
