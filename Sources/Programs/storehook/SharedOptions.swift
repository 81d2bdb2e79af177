import ArgumentParser
import Base
import Operations

/// What every command takes.
struct SharedOptions: ParsableArguments {
    @Option(
        help:
            "A file of NAME=value lines with the environment's names, as systemd and docker read it; the environment wins."
    )
    var config: String?

    func settings() async throws -> Settings { try Settings(file: config) }
}

/// How an answer is printed.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    /// For people.
    case table
    /// For scripts.
    case json
}

/// How all commands print their answers on ``StandardOutput``: by default a table on a terminal, and JSON elsewhere.
struct Output: ParsableArguments {
    @Option(help: "table or json; table on a terminal, json elsewhere.") var format: OutputFormat?

    /// For people?
    var isTable: Bool { (format ?? (StandardOutput.isTerminal ? .table : .json)) == .table }

    /// Prints an answer.
    func print(_ answer: CommandAnswer) { StandardOutput.line(text(of: answer)) }

    /// An answer in the requested format.
    func text(of answer: CommandAnswer) -> String { isTable ? answer.text : answer.json.text }
}

/// How long a list may be.
struct ListLimit: ParsableArguments {
    @Option(help: "At most so many, 1 to 10000.") var limit = 100

    func validate() throws { try (1...10_000).check(limit, "--limit") }
}

/// The reason for an action that cannot be undone.
struct ReasonOption: ParsableArguments {
    @Option(help: "Why, for the record.") var why: String

    func validate() throws {
        guard why.contains(where: { !$0.isWhitespace }) else { throw ValidationError("--why needs a text") }
        guard why.unicodeScalars.count <= 1000 else { throw ValidationError("--why takes at most 1000 characters") }
    }
}

extension ClosedRange where Bound: FixedWidthInteger {
    /// Refuses a number that lies outside.
    func check(_ number: Bound?, _ option: String) throws {
        guard let number, !contains(number) else { return }
        throw ValidationError("\(option) goes from \(lowerBound) to \(upperBound)")
    }
}
