import Foundation
import TestSupport

/// A command of a program with its options and subcommands: what `--help` shows of them, in the form that is for programs.
struct CommandHelp: Decodable, Sendable {
    private struct Argument: Decodable {
        struct Name: Decodable {
            var kind: String
            var name: String
        }

        var shouldDisplay: Bool
        var isOptional: Bool
        var names: [Name]?
        var valueName: String?
        var abstract: String?
    }

    private struct Dump: Decodable {
        var command: CommandHelp
    }

    private enum CodingKeys: CodingKey {
        case commandName, arguments, subcommands, defaultSubcommand
    }

    let name: String
    /// With their hyphens.
    let options: Set<String>
    /// What help says of each option, by its name with its hyphens.
    let explanations: [String: String]
    /// Whether it runs with nothing behind its name.
    let isComplete: Bool
    let subcommands: [CommandHelp]
    /// The subcommand that is meant where none is named.
    let usual: String?

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        name = try members.decode(String.self, forKey: .commandName)
        let arguments = try members.decodeIfPresent([Argument].self, forKey: .arguments) ?? []
        var explanations: [String: String] = [:]
        for argument in arguments where argument.shouldDisplay {
            for name in argument.names ?? [] where name.kind == "long" {
                explanations["--\(name.name)"] = argument.abstract ?? ""
            }
        }
        self.explanations = explanations
        options = Set(explanations.keys)
        isComplete = arguments.allSatisfy(\.isOptional)
        subcommands = try members.decodeIfPresent([CommandHelp].self, forKey: .subcommands) ?? []
        usual = try members.decodeIfPresent(String.self, forKey: .defaultSubcommand)
    }

    /// Asks a program.
    static func of(_ program: String) async throws -> CommandHelp {
        let text = try await ChildProgram.run(program, ["--experimental-dump-help"], environment: [:])
        return try JSONDecoder().decode(Dump.self, from: Data(text.utf8)).command
    }

    /// What is typed for it and for everything below it, behind the program's name.
    func paths(behind words: [String]? = nil) -> [[String]] {
        let own = words.map { $0 + [name] } ?? []
        return [own] + subcommands.filter { $0.name != "help" }.flatMap { $0.paths(behind: own) }
    }

    /// The commands without subcommands, each with what is typed for it.
    func leaves(behind words: [String]? = nil) -> [(words: [String], command: CommandHelp)] {
        let own = words.map { $0 + [name] } ?? []
        let below = subcommands.filter { $0.name != "help" }
        return below.isEmpty ? [(own, self)] : below.flatMap { $0.leaves(behind: own) }
    }

    /// The options of it and of everything below it.
    var allOptions: Set<String> { subcommands.reduce(options) { $0.union($1.allOptions) } }

    /// What is wrong with a command as a document names it; nil where the program has it.
    func fault(of command: Document.Command) -> String? {
        var place = self
        for word in command.words {
            if let next = place.subcommands.first(where: { $0.name == word }) {
                place = next
            } else if !place.subcommands.isEmpty, place.usual == nil {
                return "\(place.name) has no subcommand \(word)"
            } else {
                break
            }
        }
        var options = place.options
        if let usual = place.subcommands.first(where: { $0.name == place.usual }) { options.formUnion(usual.options) }
        let unknown = command.options.filter { !options.contains($0) }
        return unknown.isEmpty ? nil : "\(place.name) has no \(unknown.joined(separator: ", "))"
    }
}
