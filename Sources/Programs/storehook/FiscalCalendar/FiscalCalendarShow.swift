import ArgumentParser
import FigureStore
import Figures

struct FiscalCalendarShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print the fiscal calendar that counts, as it was applied.",
        discussion: """
            Word for word the file, after a line that says when it was applied and by
            whom. Where none was, that of this release.

            Example: storehook fiscal-calendar show > fiscal-calendar.yaml
            """)

    @OptionGroup var shared: SharedOptions

    func run() async throws { try await FiscalCalendar.show(shared) }
}
