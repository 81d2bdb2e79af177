import ArgumentParser

struct CommissionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "commission",
        abstract: "Apple's commission and taxes, for estimated proceeds.",
        discussion: """
            A commission table is one YAML file with dates, kept where the operator
            keeps the catalog. Until one is applied, the table of this release
            counts: Apple's published terms.

            Example: storehook commission show > commission.yaml
            """,
        subcommands: [CommissionApply.self, CommissionShow.self])
}
