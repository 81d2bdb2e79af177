import ArgumentParser
import FigureStore
import Figures
import Operations

struct FiscalCalendarApply: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Make a fiscal calendar current, all of it or nothing.",
        discussion: """
            Figures are answered by it at once; closed months keep their days. Earlier
            calendars stay on record. The same file as the current one is no new
            version. Begin with what fiscal-calendar show prints.

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
