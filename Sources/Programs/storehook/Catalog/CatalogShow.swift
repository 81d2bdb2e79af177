import AccountStore
import ArgumentParser
import Base

struct CatalogShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print the catalog that is current, as it was applied.",
        discussion: """
            Word for word the file, after a line that says when it was applied and by whom.

            Example: storehook catalog show > catalog.yaml
            """)

    @OptionGroup var shared: SharedOptions
    @OptionGroup var past: PastOptions

    func run() async throws {
        let applied = try await Database.with(try await shared.settings()) {
            try await AccountStore($0).applied(at: past.at)
        }
        guard let applied else {
            throw CommandFailure(
                past.at.map { "no catalog had been applied by \($0)" }
                    ?? "no catalog was applied yet; apply one with storehook catalog apply")
        }
        StandardOutput.line("# catalog \(applied.version), applied at \(applied.at) by \(applied.person)")
        StandardOutput.line(applied.source.hasSuffix("\n") ? String(applied.source.dropLast()) : applied.source)
    }
}
