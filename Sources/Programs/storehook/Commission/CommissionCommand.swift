import ArgumentParser

struct CommissionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "commission",
        abstract: "What Apple keeps of prices, and what is tax, by which proceeds are estimated.",
        discussion: """
            A commission table is one YAML file with dates, kept where the operator
            keeps the catalog. Until one is applied, what Apple published counts.

            Example: storehook commission show > commission.yaml
            """,
        subcommands: [CommissionApply.self, CommissionShow.self])
}
