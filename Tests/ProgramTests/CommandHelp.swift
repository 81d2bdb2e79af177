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
        var names: [Name]?
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
    let subcommands: [CommandHelp]
    /// The subcommand that is meant where none is named.
    let usual: String?

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        name = try members.decode(String.self, forKey: .commandName)
        let arguments = try members.decodeIfPresent([Argument].self, forKey: .arguments) ?? []
        let names = arguments.filter(\.shouldDisplay).flatMap { $0.names ?? [] }
        options = Set(names.filter { $0.kind == "long" }.map { "--\($0.name)" })
        subcommands = try members.decodeIfPresent([CommandHelp].self, forKey: .subcommands) ?? []
        usual = try members.decodeIfPresent(String.self, forKey: .defaultSubcommand)
    }

    /// Asks a program.
    static func of(_ program: String) async throws -> CommandHelp {
        let text = try await ChildProgram.run(program, ["--experimental-dump-help"], environment: [:])
        return try JSONDecoder().decode(Dump.self, from: Data(text.utf8)).command
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
