import AppStorePayloads
import AppStoreServerAPI
import ArgumentParser
import Base
import Operations

/// What every question to Apple takes.
struct AppleOptions: ParsableArguments {
    @OptionGroup var shared: SharedOptions
    @Option(help: "The app's bundle id, where keys of several are set.") var app: String?
    @Option(
        name: .customLong("environment"),
        help: "Production or Sandbox; where it is not given, Production and then Sandbox.",
        transform: Environment.served)
    var place: Environment?
    @OptionGroup var output: Output

    /// Asks, and prints the answer. Exits with 1 where a record was withheld, or the answer states a fault.
    /// - Parameter whenOpen: the environment for a request about no purchase, which either environment would accept.
    func run(
        environmentWhenOpen whenOpen: Environment? = nil,
        _ ask: (AppStoreClient, Environment?) async throws -> AppleAnswer
    ) async throws {
        let answer = try await AppleAccess.with(try await shared.settings(), app: app, in: place) { client, place in
            try await ask(client, place ?? whenOpen)
        }
        try show(answer)
    }

    /// Prints an answer.
    func show(_ answer: AppleAnswer) throws {
        output.print(answer.answer)
        for record in answer.refused {
            StandardError.line("storehook: kept back record \(record.index + 1) of the answer: \(record.failure)")
        }
        if let missing = answer.missing { throw CommandFailure("\(missing)") }
        if !answer.refused.isEmpty || answer.isFault { throw ExitStatus.failed }
    }
}
