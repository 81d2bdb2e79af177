import AccountStore
import ArgumentParser
import Base
import Operations

struct StaffToken: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Make, list or revoke keys of your own servers for the account API.",
        discussion: """
            A key is shown once, when it is made: only its digest is stored. A server sends it as Authorization: Bearer, with
            X-Account-ID or X-Account-Token where it asks about an account; with it, it may ask about every account. A new
            key counts at once, revoking within seven seconds.

            Example: storehook staff token --account-api --name shop-backend
            """)

    @OptionGroup var shared: SharedOptions
    @Flag(help: "Make a key for the account API (storehook serve).") var accountApi = false
    @Option(help: "What the key is for, for the list.") var name: String?
    @Flag(help: "List the keys: never the keys themselves.") var list = false
    @Option(help: "Revoke the key of this number.") var revoke: Int64?
    @OptionGroup var output: Output

    func validate() throws {
        guard [accountApi, list, revoke != nil].count(where: \.self) == 1 else {
            throw ValidationError("say --account-api, --list or --revoke")
        }
        guard name == nil || accountApi else { throw ValidationError("--name goes with --account-api") }
        guard name.map({ (1...100).contains($0.unicodeScalars.count) && $0.contains { !$0.isWhitespace } }) ?? true
        else { throw ValidationError("--name takes 1 to 100 characters") }
    }

    func run() async throws {
        let settings = try await shared.settings()
        if accountApi {
            let key = ServerKey()
            let new = NewSecret(
                name: "key", output: output, advice: "storehook staff token --list says whether the key is there")
            return try await new.make(settings) { pool, show in
                _ = try await ServerKeys(pool).add(key, name: name ?? "account API", by: Operator.name) { recorded in
                    try show(Self.answer(recorded, key))
                }
            } isCurrent: { pool in
                try await ServerKeys(pool).valid().contains { $0.digest == key.digest }
            }
        }
        if let revoke {
            let recorded = try await Database.with(settings) {
                try await ServerKeys($0).revoke(revoke, by: Operator.name)
            }
            guard let recorded else {
                throw CommandFailure("there is no key \(revoke); see storehook staff token --list")
            }
            return output.print(
                CommandAnswer(
                    [recorded], text: "revoked key \(recorded.id) (\(recorded.name)); it counts within seven seconds"))
        }
        output.print(CommandAnswer(try await Database.with(settings) { try await ServerKeys($0).list() }))
    }

    private static func answer(_ recorded: RecordedServerKey, _ key: ServerKey) -> CommandAnswer {
        CommandAnswer(
            ["id": recorded.id.json, "name": .string(recorded.name), "key": .string(key.text)],
            text: """
                \(key.text)
                This is shown once. It is key \(recorded.id) (\(recorded.name)); to take it back: storehook staff token \
                --revoke \(recorded.id)
                """)
    }
}
