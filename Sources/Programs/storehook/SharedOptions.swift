import ArgumentParser

#if canImport(Glibc)
    import Glibc
#endif

/// What every command takes.
struct SharedOptions: ParsableArguments {
    @Option(help: "A file of NAME=value lines with the environment's names; the environment wins.")
    var config: String?

    func settings() async throws -> Settings { try await Settings(file: config) }
}

/// How a listing is printed.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    /// For people.
    case table
    /// For scripts.
    case json
}

extension OutputFormat {
    /// What was asked for; else a table for a person at a terminal, and JSON for whatever else reads.
    static func chosen(_ asked: OutputFormat?) -> OutputFormat {
        asked ?? (isatty(STDOUT_FILENO) == 1 ? .table : .json)
    }
}
