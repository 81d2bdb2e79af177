package import Accounts
package import Base
import Foundation
package import Postgres

/// The rule of account ids, as the database keeps it: every program goes by it.
package struct AccountIDs: Sendable {
    let pool: PostgresPool

    /// The rule behind a pool of connections. One is enough.
    package init(_ pool: PostgresPool) { self.pool = pool }

    /// The rule as it stands.
    package struct Standing: Sendable, Hashable {
        /// The rule; nil where the accounts of earlier releases leave it open (``AccountIDRefusal/unnamed``).
        package var rule: AccountIDRule?
        /// When it was named. Nil while it is not: the first program that goes by it names it, by its setting.
        package var namedAt: Timestamp?
        /// Who named it.
        package var namedBy: String?

        /// Memberwise. By default the rule is not named yet.
        package init(rule: AccountIDRule?, namedAt: Timestamp? = nil, namedBy: String? = nil) {
            self.rule = rule
            self.namedAt = namedAt
            self.namedBy = namedBy
        }
    }

    /// The rule as it stands.
    package func standing() async throws -> Standing {
        let row = try await pool.query(
            PostgresQuery("account_ids.standing", "select rule, named_at, named_by from storehook.account_ids")
        ).one()
        return Standing(
            rule: try row.decode(0, as: String?.self) == nil ? nil : row.decode("rule", among: AccountIDRule.self),
            namedAt: try row.decode(1, as: PostgresTimestamp?.self).map { Timestamp($0) }, namedBy: try row.decode(2))
    }

    /// The rule that a program with a setting goes by. Where it is not named yet, this names it.
    /// - Parameter setting: `STOREHOOK_ACCOUNT_IDS`; nil where it is not set: then any rule will do.
    /// - Throws: ``AccountIDRefusal`` where the program may not run; `PostgresError`.
    package func rule(setting: AccountIDRule?) async throws -> AccountIDRule {
        var standing = try await standing()
        if standing.rule != nil, standing.namedAt == nil {
            try await pool.query(
                PostgresQuery("account_ids.name", "select storehook.name_account_ids(\(setting?.rawValue))"))
            standing = try await self.standing()
        }
        guard let rule = standing.rule else { throw AccountIDRefusal.unnamed }
        guard setting == nil || setting == rule else {
            throw AccountIDRefusal.differs(setting: setting ?? rule, rule: rule)
        }
        return rule
    }
}

/// Why a program may not go by the rule of account ids.
package enum AccountIDRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no rule: an earlier release stored an account whose id is a version 5 UUID and its own token.
    case unnamed
    /// The program's setting is another rule.
    case differs(setting: AccountIDRule, rule: AccountIDRule)

    /// One line: what is the matter, and what to do.
    package var description: String {
        switch self {
        case .unnamed:
            "this database has no rule for account ids yet, and an account whose id is its own appAccountToken, a version 5 UUID: "
                + "where the ids of your logins really are UUIDs, storehook account-ids set uuid; otherwise such a login may have "
                + "been after somebody else's account: storehook account-ids set auto, or text where users choose their ids, "
                + "lists whose token changes"
        case .differs(let setting, let rule):
            "STOREHOOK_ACCOUNT_IDS is \(setting.rawValue), and this database goes by \(rule.rawValue): set it to "
                + "\(rule.rawValue), or change the rule for all: storehook account-ids set \(setting.rawValue) lists whose token "
                + "changes"
        }
    }
}
