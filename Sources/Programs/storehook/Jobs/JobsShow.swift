import ArgumentParser
import Base
import EvidenceStore
import Operations

struct JobsShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a job: what was asked for, how far it is, and what became of its letters.",
        discussion: "Example: storehook jobs show 3")

    @OptionGroup var shared: SharedOptions
    @Argument(help: "Its number.") var id: Int64
    @OptionGroup var past: PastOptions
    @OptionGroup var list: ListLimit
    @OptionGroup var output: Output

    func run() async throws {
        let answer = try await Database.with(try await shared.settings()) { pool in
            let jobs = JobStore(pool)
            let found = if let then = past.at { try await jobs.job(id, at: then) } else { try await jobs.job(id) }
            guard let job = found else {
                let then = past.at.map { " that had been asked for by \($0)" } ?? ""
                throw CommandFailure("there is no job \(id)\(then); see storehook jobs list")
            }
            return CommandAnswer(job, try await jobs.items(of: id, at: past.at, limit: list.limit).elements)
        }
        output.print(answer)
    }
}
