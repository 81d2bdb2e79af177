package import Base
import Foundation
import Postgres

/// What the operator's servers say an account's customer is called, for the people at the desk.
package struct AccountProfile: Sendable, Hashable {
    /// The longest name, in characters.
    package static let maximumNameLength = 200
    /// The longest mail address, in characters (RFC 5321, 4.5.3.1.3).
    package static let maximumMailLength = 254

    /// The name.
    package var name: String?
    /// The mail address, as the app reported it: it is not checked.
    package var mail: String?

    /// Empty by default.
    package init(name: String? = nil, mail: String? = nil) {
        self.name = name
        self.mail = mail
    }

    /// Whether it says nothing.
    package var isEmpty: Bool { name == nil && mail == nil }
}

extension AccountStore {
    /// The most accounts that ``accounts(named:isWhole:apps:limit:)`` returns.
    package static let mostNamed = 100
    /// The most names, and the most addresses, that are looked through for accounts of some apps.
    private static let mostLookedThrough: Int64 = 2_000

    /// Replaces an account's profile; an empty one deletes it. An erased account gets none: the operator's servers may go on sending it.
    ///
    /// The account's budget of the day pays for it. The same once more writes nothing, and spends nothing.
    /// - Returns: the profile that stands afterwards.
    /// - Throws: ``WriteBudget/Exhausted``; `PostgresError`.
    package func put(_ profile: AccountProfile, for token: UniqueIdentifier) async throws -> AccountProfile {
        try await pool.withTransaction(TransactionOptions(isDurable: true, name: "accounts.put_profile")) { session in
            let known = try session.query(.profiles(of: [token])).first.map { try AccountProfile($0) }
            guard (known ?? AccountProfile()) != profile else { return profile }
            guard !profile.isEmpty else {
                try session.query(.eraseProfile(of: token))
                return profile
            }
            try WriteBudget.spend(WriteWeight.profile([profile.name, profile.mail]), of: token, session)
            // An erasure holds this row.
            let isErased =
                try session.query(
                    PostgresQuery(
                        "accounts.is_erased",
                        """
                        select erased_at is not null from storehook.accounts where token = \(UUID(token)) for share
                        """)
                ).first?.decode(0, as: Bool.self) ?? false
            guard !isErased else { return AccountProfile() }
            try session.query(
                PostgresQuery(
                    "accounts.put_profile",
                    """
                    insert into storehook.account_profiles (token, name, mail, changed_at)
                    values (\(UUID(token)), \(profile.name), \(profile.mail), now())
                        on conflict (token) do update
                       set name = excluded.name, mail = excluded.mail, changed_at = excluded.changed_at
                    """))
            return profile
        }
    }

    /// The profiles of accounts. Accounts without one are left out.
    /// - Throws: `PostgresError`.
    package func profiles(of tokens: [UniqueIdentifier]) async throws -> [UniqueIdentifier: AccountProfile] {
        guard !tokens.isEmpty else { return [:] }
        return try await pool.query(.profiles(of: tokens)).reduce(into: [:]) { profiles, row in
            profiles[UniqueIdentifier(try row.decode("token", as: UUID.self))] = try AccountProfile(row)
        }
    }

    /// The accounts with a name or mail address that begins with a text, in any case, in the order of their tokens.
    /// - Parameters:
    ///   - isWhole: whether the text is the whole name or address, for readers that must not learn the rest of it.
    ///   - apps: only accounts with a purchase of one of these apps; nil for all accounts. Two thousand names and as many addresses are looked
    ///     through for them.
    ///   - limit: the most to return.
    /// - Returns: the accounts, and whether there may be more.
    /// - Throws: `PostgresError`.
    package func accounts(
        named prefix: String, isWhole: Bool = false, apps: [String]? = nil, limit: Int = AccountStore.mostNamed
    ) async throws -> (tokens: [UniqueIdentifier], isMore: Bool) {
        guard !prefix.isEmpty, !prefix.utf8.contains(0) else { return ([], false) }
        let most = apps == nil ? Int64(limit) : Self.mostLookedThrough
        let rows = try await pool.query(.accounts(named: prefix, isWhole, apps, lookingThrough: most, limit))
        let tokens = try rows.compactMap { try $0.decode("token", as: UUID?.self).map { UniqueIdentifier($0) } }
        return (tokens, try tokens.count == limit || rows.contains { try $0.decode("is_cut") })
    }
}

extension AccountProfile {
    fileprivate init(_ row: PostgresRow) throws {
        name = try row.decode("name")
        mail = try row.decode("mail")
    }
}

extension PostgresQuery {
    fileprivate static func profiles(of tokens: [UniqueIdentifier]) -> PostgresQuery {
        PostgresQuery(
            "accounts.profiles",
            "select token, name, mail from storehook.account_profiles where token = any(\(tokens.map { UUID($0) }))")
    }

    /// Each by its index, which has texts in the order of their bytes: `token`, null in one row where there is none; `is_cut`, whether not all
    /// names were looked through.
    fileprivate static func accounts(
        named prefix: String, _ isWhole: Bool, _ apps: [String]?, lookingThrough most: Int64, _ limit: Int
    ) -> PostgresQuery {
        let pattern =
            ["\\", "%", "_"].reduce(prefix) { $0.replacing($1, with: "\\" + $1) } + (isWhole ? "" : "%")
        return PostgresQuery(
            "accounts.named",
            """
            with named as materialized (
                select token from storehook.account_profiles where lower(name) like lower(\(pattern)) limit \(most)
            ), mailed as materialized (
                select token from storehook.account_profiles where lower(mail) like lower(\(pattern)) limit \(most)
            ), found as (
                select f.token from (table named union table mailed) f
                 where \(apps == nil)
                    or exists (select from storehook.account_lines l where l.token = f.token and l.bundle_id = any (\(apps ?? [])))
                 order by f.token limit \(Int64(limit))
            )
            select f.token, (select count(*) = \(most) from named) or (select count(*) = \(most) from mailed) as is_cut
              from (values (true)) one left join found f on true
             order by f.token
            """)
    }

    /// Deletes an account's profile.
    static func eraseProfile(of token: UniqueIdentifier) -> PostgresQuery {
        PostgresQuery(
            "accounts.erase_profile", "delete from storehook.account_profiles where token = \(UUID(token))")
    }
}
