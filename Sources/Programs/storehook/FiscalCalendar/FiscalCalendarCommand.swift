import ArgumentParser

struct FiscalCalendarCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fiscal-calendar",
        abstract: "Apple's fiscal years, by whose months figures are answered and closed.",
        discussion: """
            A fiscal calendar is one YAML file, with the first day of each year. Until
            one is applied, that of this release counts.

            Example: storehook fiscal-calendar show > fiscal-calendar.yaml
            """,
        subcommands: [FiscalCalendarApply.self, FiscalCalendarShow.self])
}
