import FigureStore
import Figures
import Operations
import Staff

extension ActingCommand {
    /// Makes a file of settings for figures current.
    /// - Parameter next: what happens to figures next.
    func apply<File: FigureFile>(
        _: File.Type, _ file: String, _ shared: SharedOptions, _ acting: ActingOptions, next: String
    ) async throws -> CommandAnswer {
        let text = try YAMLFile.read(file)
        let actor = try acting.actor(for: .importRates)
        let settings = try await shared.settings()
        let applied = try await Database.with(settings) { pool in
            do { return try await FigureFileStore<File>(pool).apply(text, by: actor) } catch let fault
                as FigureFileFault
            { throw CommandFailure("\(file): \(fault); nothing was applied") }
        }
        return CommandAnswer(applied, File.title, next: next)
    }
}

extension FigureFile {
    /// Prints the current file, behind a line with its origin.
    static func show(_ shared: SharedOptions) async throws {
        let applied = try await Database.with(try await shared.settings()) {
            try await FigureFileStore<Self>($0).applied()
        }
        StandardOutput.line(
            applied.map { "# \(title) \($0.version), applied at \($0.appliedAt) by \($0.appliedBy)" }
                ?? "# the \(title) of this release: none was applied")
        let source = applied?.source ?? standardText
        StandardOutput.line(source.hasSuffix("\n") ? String(source.dropLast()) : source)
    }
}
