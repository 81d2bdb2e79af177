import AccountStore
import ArgumentParser
import Base
import Operations
import Postgres
import Staff

struct StaffPasswordCommand: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "password",
        abstract: "Give a member of the staff a password for the console's pages.",
        discussion: """
            On a terminal it asks for the password twice, without showing it. Elsewhere it
            reads the first line of standard input. With --generate it makes one and
            shows it once: only its hash is stored. Sessions that were opened with
            the old password end.

            Example: storehook staff password kim@example.com
            Example: storehook staff password kim@example.com --generate
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The member's e-mail address.") var mail: StaffMail
    @Flag(help: "Make a password, and show it once.") var generate = false
    @OptionGroup var acting: ActingOptions
    @OptionGroup var output: Output

    func run() async throws {
        let settings = try await shared.settings()
        let person = try acting.actor(for: .manageStaff)
        guard !generate else { return try await make(settings, by: person) }
        let password = try asked()
        let hash = try Self.hash(of: password)
        let member = try await Database.with(settings) {
            try await StaffPasswords($0).set(hash, for: mail.text, by: person)
        }
        guard let member else { throw unknownMember }
        output.print(
            CommandAnswer(member, text: "the password of \(member.mail) is set; sessions from before are over"))
    }

    private var unknownMember: CommandFailure {
        CommandFailure(
            "no member of the staff has the address \(mail.text): storehook staff add \(mail.text) --role viewer")
    }

    /// The password that the operator types or pipes.
    private func asked() throws -> StaffPassword {
        guard HiddenInput.isTerminal else { return try new(HiddenInput.firstLine()) }
        let first = try HiddenInput.ask("New password for \(mail.text): ")
        let password = try new(first)
        guard try HiddenInput.ask("The same again: ") == first else {
            throw CommandFailure("these are two passwords; nothing is changed")
        }
        return password
    }

    private func new(_ text: String) throws -> StaffPassword {
        do throws(StaffPassword.Fault) {
            return try StaffPassword(new: text, of: mail.text)
        } catch {
            throw CommandFailure("\(error); nothing is changed", status: .usage)
        }
    }

    private func make(_ settings: Settings, by person: String) async throws {
        let password = StaffPassword.random()
        let hash = try Self.hash(of: password)
        let new = NewSecret(
            name: "password", output: output,
            advice: "storehook staff password \(mail.text) --generate makes another one")
        try await new.make(settings) { pool, show in
            let member = try await StaffPasswords(pool).set(hash, for: mail.text, by: person) { member in
                try show(Self.answer(member, password))
            }
            guard member != nil else { throw unknownMember }
        } isCurrent: { pool in
            try await StaffPasswords(pool).find(mail.text)?.hash.matches(password) ?? false
        }
    }

    private static func hash(of password: StaffPassword) throws -> PasswordHash {
        do { return try PasswordHash(of: password) } catch {
            throw CommandFailure("the password's hash cannot be worked out: \(error)")
        }
    }

    private static func answer(_ member: StaffMember, _ password: StaffPassword) -> CommandAnswer {
        CommandAnswer(
            ["id": member.id.json, "mail": .string(member.mail), "password": .string(password.text)],
            text: """
                \(password.text)
                This is shown once. It is the password of \(member.mail) for the console's pages; sessions from before are over
                """)
    }
}
