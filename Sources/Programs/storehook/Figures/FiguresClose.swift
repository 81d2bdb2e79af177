import ArgumentParser
import FigureStore
import Figures
import Operations
import Staff

struct FiguresClose: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "close",
        abstract: "Close a month: record its figures and their rows.",
        discussion: """
            figures NAME --closed answers from the record, and later changes do not
            alter it; with --rows it lists the corrections. A month is refused
            - while it runs,
            - while notifications wait to be applied,
            - while a new commission table is not in all sums, and
            - while it is not proven that all of Apple's notifications are here.
            --unproven with a reason closes a month that is not proven. The actor is
            on record.

            A fiscal month is closed with the days of the current fiscal calendar, in
            the time of Los Angeles.

            Example: storehook figures close 2026-10
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The month, such as 2026-10, or a fiscal one, such as 2026-FM10.", transform: ClosingMonth.argument)
    var month: ClosingMonth
    @Option(help: ArgumentHelp("Close it although it is not proven, with a reason.", valueName: "reason"))
    var unproven: String?
    @OptionGroup var acting: ActingOptions
    @OptionGroup var output: Output

    func validate() throws { try ClosingMonth.check(reason: unproven, "--unproven") }

    func run() async throws {
        let actor = try acting.actor(for: .closeMonth)
        let settings = try await shared.settings()
        let closed = try await Database.with(settings) { pool in
            do { return try await FigureStore(pool).close(month, by: actor, unproven: unproven) } catch let refusal
                as CloseRefusal
            { throw CommandFailure("\(refusal)") } catch let refusal as FiscalRefusal {
                throw CommandFailure("\(refusal)")
            }
        }
        output.print(CommandAnswer(closed))
    }
}

struct FiguresReopen: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "reopen",
        abstract: "Open a closed month again.",
        discussion: """
            Its record stays, and the month can be closed anew.

            Example: storehook figures reopen 2026-10 --why "a refund file came late"
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The month, such as 2026-10, or a fiscal one, such as 2026-FM10.", transform: ClosingMonth.argument)
    var month: ClosingMonth
    @Option(help: "Why, for the record.") var why: String
    @OptionGroup var acting: ActingOptions

    func validate() throws { try ClosingMonth.check(reason: why, "--why") }

    func run() async throws {
        let actor = try acting.actor(for: .closeMonth)
        let settings = try await shared.settings()
        try await Database.with(settings) { pool in
            do { try await FigureStore(pool).reopen(month, by: actor, why: why) } catch let refusal as CloseRefusal {
                throw CommandFailure("\(refusal)")
            }
        }
        StandardOutput.line("opened \(month) again")
    }
}

extension ClosingMonth {
    /// Reads `2026-10` and `2026-FM10`.
    fileprivate static func argument(_ text: String) throws -> ClosingMonth {
        guard let month = ClosingMonth(text) else {
            throw ValidationError("it is a month, such as 2026-10, or a fiscal one, such as 2026-FM10")
        }
        return month
    }

    fileprivate static func check(reason: String?, _ option: String) throws {
        guard let reason else { return }
        guard (1...1000).contains(reason.unicodeScalars.count), reason.contains(where: { !$0.isWhitespace }),
            !reason.utf8.contains(0)
        else { throw ValidationError("\(option) takes a reason of 1 to 1000 characters") }
    }
}
