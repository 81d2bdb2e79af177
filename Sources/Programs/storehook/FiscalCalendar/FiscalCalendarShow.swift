import ArgumentParser
import FigureStore
import Figures

struct FiscalCalendarShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print the current fiscal calendar, as it was applied.",
        discussion: """
            A first line states when it was applied, and the actor; the file follows
            word for word. Before any was applied, prints the calendar of this
            release.

            Example: storehook fiscal-calendar show > fiscal-calendar.yaml
            """)

    @OptionGroup var shared: SharedOptions

    func run() async throws { try await FiscalCalendar.show(shared) }
}
