import AccountStore
import ArgumentParser
import Base
import Operations
import Staff

struct StaffToken: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Make, list or revoke tokens of the staff, and keys of your own servers for the account API.",
        discussion: """
            With an e-mail address it makes a token of a member of the staff, for the admin API; the token expires. With --account-api it makes
            a key for your own servers. A token or key is shown once, when it is made: only its digest is stored.

            A server sends its key as Authorization: Bearer, with X-Account-ID or X-Account-Token for requests about an account. A key is for
            all accounts. A new key counts at once, and revoking one within seven seconds.

            Example: storehook staff token kim@example.com --days 30
            Example: storehook staff token --account-api --name shop-backend
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The e-mail address of the member of the staff.") var mail: StaffMail?
    @Option(help: "For how many days the member's token is valid, 1 to 366; 90 by default.") var days: Int64?
    @Flag(help: "Make a key for the account API (storehook serve).") var accountApi = false
    @Option(help: "What the key is for, for the list.") var name: String?
    @Flag(help: "List the member's tokens, or the keys: never the secrets themselves.") var list = false
    @Option(help: "Revoke the member's token, or the key, of this number.") var revoke: Int64?
    @OptionGroup var acting: ActingOptions
    @OptionGroup var output: Output

    func validate() throws {
        if mail == nil {
            guard [accountApi, list, revoke != nil].count(where: \.self) == 1 else {
                throw ValidationError("name a member of the staff, or say --account-api, --list or --revoke")
            }
        } else {
            guard !accountApi, !(list && revoke != nil) else {
                throw ValidationError("with a member of the staff say --list or --revoke, or neither for a new token")
            }
        }
        guard days == nil || (mail != nil && !list && revoke == nil) else {
            throw ValidationError("--days goes with a new token of a member of the staff")
        }
        try (1...366).check(days, "--days")
        guard name == nil || accountApi else { throw ValidationError("--name goes with --account-api") }
        guard name.map({ (1...100).contains($0.unicodeScalars.count) && $0.contains { !$0.isWhitespace } }) ?? true
        else { throw ValidationError("--name takes 1 to 100 characters") }
    }

    func run() async throws {
        let settings = try await shared.settings()
        if let mail {
            return try await StaffTokens(mail: mail.text, by: try acting.actor(for: .manageStaff), output: output).run(
                self, settings)
        }
        if accountApi {
            let key = ServerKey()
            let new = NewSecret(
                name: "key", output: output, advice: "storehook staff token --list says whether the key is there")
            return try await new.make(settings) { pool, show in
                _ = try await ServerKeys(pool).add(
                    key, name: name ?? "account API", by: try acting.actor(for: .changeEndpoints)
                ) { recorded in
                    try show(Self.answer(recorded, key))
                }
            } isCurrent: { pool in
                try await ServerKeys(pool).valid().contains { $0.digest == key.digest }
            }
        }
        if let revoke {
            let recorded = try await Database.with(settings) {
                try await ServerKeys($0).revoke(revoke, by: try acting.actor(for: .changeEndpoints))
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
