import ArgumentParser
import FigureStore
import Figures

struct CommissionShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print the commission table that counts, as it was applied.",
        discussion: """
            Word for word the file, after a line that says when it was applied and by
            whom. Where none was, that of this release.

            Example: storehook commission show > commission.yaml
            """)

    @OptionGroup var shared: SharedOptions

    func run() async throws {
        let applied = try await Database.with(try await shared.settings()) { try await CommissionStore($0).applied() }
        StandardOutput.line(
            applied.map { "# commission table \($0.version), applied at \($0.appliedAt) by \($0.appliedBy)" }
                ?? "# the commission table of this release: none was applied")
        let source = applied?.source ?? Commission.standardText
        StandardOutput.line(source.hasSuffix("\n") ? String(source.dropLast()) : source)
    }
}
