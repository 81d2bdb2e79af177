package import AccountStore
import Base
import Postgres
import Staff

extension CommandAnswer {
    /// The members of the staff.
    package init(_ members: [StaffMember]) {
        self.init(
            ["members": Self.member.values(of: members)],
            text: members.isEmpty
                ? "there are no members of the staff yet: storehook staff add EMAIL --role viewer"
                : Self.member.table(of: members),
            csv: Self.member.csv(of: members))
    }

    /// One member, and what became of them.
    package init(_ member: StaffMember, text: String) { self.init(member, Self.member, text: text) }

    /// The tokens of a member: all but the tokens.
    package init(_ tokens: [RecordedStaffToken], of mail: String) {
        self.init(
            ["tokens": Self.token.values(of: tokens)],
            text: tokens.isEmpty
                ? "no tokens; make one with storehook staff token \(mail)" : Self.token.table(of: tokens))
    }

    /// A token that was revoked.
    package init(_ token: RecordedStaffToken, text: String) { self.init(token, Self.token, text: text) }

    private static let member = CommandShape<StaffMember>([
        .init("id", column: "STAFF", \.id), .init("mail", column: "MAIL", \.mail),
        .init("role", \.role.rawValue), .column("ROLE", \.role.rawValue),
        .init("apps") { $0.apps.map { $0.joined(separator: " ") } },
        .column("APPS") { $0.apps.map { $0.joined(separator: ", ") } ?? "all" },
        .init("tokens", column: "TOKENS", \.validTokens),
        .init("password_set_at", column: "PASSWORD", \.passwordSetAt),
        .init("last_login_at", column: "LAST LOGIN", \.lastLoginAt),
        .init("added_at", column: "ADDED", \.addedAt), .init("added_by", column: "BY", \.addedBy),
        .init("removed_at", \.removedAt), .init("removed_by", \.removedBy),
        .column("STATE") { member in
            member.removedAt.map { "removed \(Timestamp($0)) by \(member.removedBy ?? "-")" } ?? "staff"
        },
    ])

    private static let token = CommandShape<RecordedStaffToken>([
        .init("id", column: "TOKEN", \.id), .init("created_at", column: "MADE", \.createdAt),
        .init("created_by", column: "BY", \.createdBy), .init("expires_at", column: "EXPIRES", \.expiresAt),
        .init("revoked_at", \.revokedAt), .init("revoked_by", \.revokedBy),
        .column("STATE") { token in
            token.revokedAt.map { "revoked \(Timestamp($0)) by \(token.revokedBy ?? "-")" } ?? "good until it expires"
        },
    ])
}
