import ArgumentParser
import FigureStore
import Figures
import Operations

struct FiscalCalendarApply: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Make a fiscal calendar current as a whole.",
        discussion: """
            Answers have its days at once. Closed months keep their days. Earlier
            calendars stay on record. The file of the current version makes no new
            one. Begin with the output of fiscal-calendar show.

            Example: storehook fiscal-calendar apply fiscal-calendar.yaml
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The calendar's file.") var file: String
    @OptionGroup var acting: ActingOptions
    @OptionGroup var output: Output

    func run() async throws {
        output.print(
            try await apply(FiscalCalendar.self, file, shared, acting, next: "closed months keep their days"))
    }
}
