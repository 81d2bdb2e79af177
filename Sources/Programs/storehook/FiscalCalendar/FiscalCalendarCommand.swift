import ArgumentParser

struct FiscalCalendarCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fiscal-calendar",
        abstract: "Apple's fiscal years, for figures by fiscal month.",
        discussion: """
            A fiscal calendar is one YAML file, with the first day of each year. Until
            one is applied, the calendar of this release counts.

            Example: storehook fiscal-calendar show > fiscal-calendar.yaml
            """,
        subcommands: [FiscalCalendarApply.self, FiscalCalendarShow.self])
}
