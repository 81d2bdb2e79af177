import ArgumentParser
import Staff

/// The actor of a command, for the record.
struct ActingOptions: ParsableArguments {
    @Option(
        name: .customLong("as"),
        help: "The name of the actor, for the record, unchecked. By default your user and this machine.")
    var given: String?

    func validate() throws {
        guard let given else { return }
        guard (1...190).contains(given.unicodeScalars.count), given.contains(where: { !$0.isWhitespace }),
            given.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else { throw ValidationError("--as takes 1 to 190 characters, on one line") }
    }

    /// A person with the commands acts as an admin.
    private static let role = StaffRole.admin

    /// The actor as acts record it: `cli:`, because the name is not proven.
    var name: String { "cli:\(given ?? Operator.name)" }

    /// The actor of what asks for the role itself.
    var admin: StaffActor { StaffActor(name: name, role: Self.role) }

    /// The actor of something.
    /// - Throws: `CommandFailure` where it is not allowed.
    func actor(for task: StaffTask) throws -> String {
        if let refusal = StaffRules().refusal(of: task, by: Self.role) {
            throw CommandFailure("\(refusal)", status: .usage)
        }
        return name
    }
}
