import ArgumentParser
import Base
import EvidenceStore
import Operations

struct JobsList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List jobs, the latest first.",
        discussion: "Example: storehook jobs list --state running")

    @OptionGroup var shared: SharedOptions
    @Option(help: "waiting, running, done, stopped or failed.", transform: Job.State.word) var state: Job.State?
    @OptionGroup var past: PastOptions
    @OptionGroup var pages: PageOptions
    @OptionGroup var output: Output

    func validate() throws { _ = try cursor }

    private var cursor: ListCursor? {
        get throws {
            let cursor = try pages.cursor(parts: JobStore.cursorParts)
            guard cursor.map({ Int64($0.parts[0]) != nil }) ?? true else {
                throw ValidationError("--after takes what a page before gave as next")
            }
            return cursor
        }
    }

    func run() async throws {
        let page = try await Database.with(try await shared.settings()) { pool in
            let jobs = JobStore(pool)
            return try await pages.read(after: try cursor) {
                try await jobs.list(state: state, at: past.at, after: $0, limit: $1)
            }
        }
        output.print(CommandAnswer(page))
    }
}
