import AccountStore
import Base
import Operations
import Postgres
import Staff

/// The tokens of one member of the staff, as `storehook staff token EMAIL` makes, lists and revokes them.
struct StaffTokens {
    let mail: String
    let person: String
    let output: Output

    init(mail: String, by person: String, output: Output) {
        self.mail = mail
        self.person = person
        self.output = output
    }

    func run(_ command: StaffToken, _ settings: Settings) async throws {
        if command.list {
            return output.print(
                CommandAnswer(
                    try await Database.with(settings) { try await StaffMembers($0).tokens(of: mail) }, of: mail))
        }
        if let number = command.revoke {
            let token = try await Database.with(settings) {
                try await StaffMembers($0).revokeToken(number, of: mail, by: person)
            }
            guard let token else {
                throw CommandFailure("\(mail) has no token \(number): storehook staff token \(mail) --list")
            }
            return output.print(CommandAnswer(token, text: "revoked token \(token.id) of \(mail)"))
        }
        try await make(days: command.days ?? 90, settings)
    }

    private func make(days: Int64, _ settings: Settings) async throws {
        let secret = StaffSecret()
        let new = NewSecret(
            name: "token", output: output,
            advice: "storehook staff token \(mail) --list says whether the token is there")
        try await new.make(settings) { pool, show in
            let token = try await StaffMembers(pool).addToken(secret, for: mail, days: days, by: person) {
                member, token in
                try show(Self.answer(member, token, secret))
            }
            guard token != nil else {
                throw CommandFailure(
                    "no member of the staff has the address \(mail): storehook staff add \(mail) --role viewer")
            }
        } isCurrent: { pool in
            try await StaffMembers(pool).holder(of: secret) != nil
        }
    }

    private static func answer(
        _ member: StaffMember, _ token: RecordedStaffToken, _ secret: StaffSecret
    ) -> CommandAnswer {
        CommandAnswer(
            [
                "id": token.id.json, "mail": .string(member.mail), "role": .string(member.role.rawValue),
                "expires_at": token.expiresAt.json, "token": .string(secret.text),
            ],
            text: """
                \(secret.text)
                This is shown once. It is token \(token.id) of \(member.mail), \(member.role.rawValue), until \
                \(Timestamp(token.expiresAt)); to take it back: storehook staff token \(member.mail) --revoke \(token.id)
                """)
    }
}
