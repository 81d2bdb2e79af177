import ArgumentParser
import EvidenceStore
import Operations
import Staff

struct JobsStop: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Stop a job, for a reason that stays on record: what is settled stays so, the rest is left alone.",
        discussion: "Example: storehook jobs stop 3 --why \"the fix was wrong\"")

    @OptionGroup var shared: SharedOptions
    @Argument(help: "Its number.") var id: Int64
    @OptionGroup var reason: ReasonOption
    @OptionGroup var acting: ActingOptions
    @OptionGroup var output: Output

    func run() async throws {
        let job = try await Database.with(try await shared.settings()) { pool in
            do {
                return try await JobStore(pool).stop(id, by: try acting.actor(for: .discard), why: reason.why)
            } catch JobRefusal.unknown {
                throw CommandFailure("there is no job \(id); see storehook jobs list")
            } catch JobRefusal.over(let state) {
                throw CommandFailure(
                    "job \(id) was stopped before, or has ended (\(state.rawValue)): storehook jobs show \(id)")
            }
        }
        output.print(CommandAnswer(job, []))
    }
}
