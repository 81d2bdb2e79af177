import ArgumentParser

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
