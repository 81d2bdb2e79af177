package import Postgres
package import Staff

/// The members of the staff, and their tokens for the admin API. The database puts each change on record in the audit.
package struct StaffMembers: Sendable {
    private let pool: PostgresPool

    /// The staff behind a pool of connections. One is enough.
    package init(_ pool: PostgresPool) { self.pool = pool }

    /// Adds a member; one of the same address, in either letter case, gets the role and the apps.
    /// - Parameters:
    ///   - apps: bundle ids; nil for all apps.
    ///   - why: for the audit.
    /// - Returns: the member, and whether there was none before.
    package func add(
        _ mail: String, as role: StaffRole, of apps: [String]?, by person: String, why: String? = nil
    ) async throws -> (member: StaffMember, isNew: Bool) {
        let (person, apps) = (String(person.prefix(200)), apps.map { Set($0).sorted() })
        return try await pool.withTransaction(TransactionOptions(isDurable: true, name: "staff.add")) { session in
            try Self.note(why, session)
            // xmax is 0 in a row that was just inserted.
            let row = try session.query(
                PostgresQuery(
                    "staff.add",
                    """
                    insert into storehook.staff_members as known (mail, role, apps, added_by)
                    values (\(mail), \(role.rawValue), \(apps), \(person))
                        on conflict (lower(mail)) where removed_at is null
                        do update set role = excluded.role, apps = excluded.apps, changed_at = now(), changed_by = excluded.added_by
                    returning id, xmax = 0 as is_new
                    """)
            ).one()
            return (try Self.member(row.decode("id"), session), try row.decode("is_new"))
        }
    }

    private static func member(_ id: Int64, _ session: borrowing PostgresSession) throws -> StaffMember {
        try StaffMember(
            session.query(
                PostgresQuery(
                    "staff.member",
                    "select \(unescaped: StaffMember.columns) from storehook.staff_members m where m.id = \(id)")
            ).one())
    }

    /// Why what this transaction does is done: the database takes it into the audit.
    private static func note(_ why: String?, _ session: borrowing PostgresSession) throws {
        guard let why else { return }
        try session.query(PostgresQuery("staff.why", "select set_config('storehook.why', \(why), true)"))
    }

    /// The member with a number; nil without one.
    /// - Parameter withRemoved: whether a removed member is one.
    package func member(_ id: Int64, withRemoved: Bool = false) async throws -> StaffMember? {
        try await pool.query(
            PostgresQuery(
                "staff.numbered",
                """
                select \(unescaped: StaffMember.columns) from storehook.staff_members m
                 where m.id = \(id) and (m.removed_at is null or \(withRemoved))
                """)
        ).first.map { try StaffMember($0) }
    }

    /// Removes a member, and with it all of their tokens.
    /// - Returns: the member; nil where no member has this address.
    package func remove(_ mail: String, by person: String, why: String? = nil) async throws -> StaffMember? {
        let person = String(person.prefix(200))
        return try await pool.withTransaction(TransactionOptions(isDurable: true, name: "staff.remove")) { session in
            try Self.note(why, session)
            let removed = try session.query(
                PostgresQuery(
                    "staff.remove",
                    """
                    update storehook.staff_members set removed_at = now(), removed_by = \(person)
                     where lower(mail) = lower(\(mail)) and removed_at is null
                    returning id
                    """)
            ).first
            guard let id = try removed?.decode(0, as: Int64.self) else { return nil }
            try session.query(
                PostgresQuery(
                    "staff.remove_tokens",
                    """
                    update storehook.staff_tokens set revoked_at = now(), revoked_by = \(person)
                     where member_id = \(id) and revoked_at is null
                    """))
            return try Self.member(id, session)
        }
    }

    /// The most members that a list has.
    private static let most = 1000

    /// All members, in the order of their numbers.
    /// - Parameter withRemoved: whether to include removed members.
    package func list(withRemoved: Bool) async throws -> [StaffMember] {
        try await pool.query(
            PostgresQuery(
                "staff.list",
                """
                select \(unescaped: StaffMember.columns) from storehook.staff_members m
                 where m.removed_at is null or \(withRemoved)
                 order by m.id limit \(Self.most)
                """)
        ).map { try StaffMember($0) }
    }

    /// Records a new token of a member.
    /// - Parameter show: called before the commit; where it throws, nothing is added.
    /// - Returns: what is recorded; nil where no member has this address.
    package func addToken(
        _ secret: StaffSecret, for mail: String, days: Int64, by person: String, why: String? = nil,
        showing show: @Sendable (StaffMember, RecordedStaffToken) throws -> Void = { _, _ in }
    ) async throws -> RecordedStaffToken? {
        let addition = PostgresQuery(
            "staff.add_token",
            """
            with added as (
                insert into storehook.staff_tokens (member_id, digest, created_by, expires_at)
                select m.id, \(secret.digest), \(String(person.prefix(200))), now() + make_interval(days => \(Int32(clamping: days)))
                  from storehook.staff_members m
                 where lower(m.mail) = lower(\(mail)) and m.removed_at is null
                   for share
                returning *
            )
            select \(unescaped: RecordedStaffToken.columns) from added t
            """)
        return try await pool.withTransaction(.showing("staff.add_token")) { session in
            try Self.note(why, session)
            guard let token = try session.query(addition).first.map({ try RecordedStaffToken($0) }) else { return nil }
            try show(Self.member(token.memberID, session), token)
            return token
        }
    }

    /// A member's tokens, the latest first; empty where no member has this address.
    package func tokens(of mail: String) async throws -> [RecordedStaffToken] {
        try await pool.query(
            PostgresQuery(
                "staff.tokens",
                """
                select \(unescaped: RecordedStaffToken.columns)
                  from storehook.staff_tokens t join storehook.staff_members m on m.id = t.member_id
                 where lower(m.mail) = lower(\(mail)) and m.removed_at is null
                 order by t.id desc limit \(Self.most)
                """)
        ).map { try RecordedStaffToken($0) }
    }

    /// Revokes a token of a member for ever.
    /// - Returns: the token, with the actor that revoked it first; nil where the member has no token of this number.
    package func revokeToken(
        _ id: Int64, of mail: String, by person: String, why: String? = nil
    ) async throws -> RecordedStaffToken? {
        let person = String(person.prefix(200))
        return try await pool.withTransaction(TransactionOptions(isDurable: true, name: "staff.revoke_token")) {
            session in
            try Self.note(why, session)
            try session.query(
                PostgresQuery(
                    "staff.revoke_token",
                    """
                    update storehook.staff_tokens t set revoked_at = now(), revoked_by = \(person)
                      from storehook.staff_members m
                     where m.id = t.member_id and lower(m.mail) = lower(\(mail)) and m.removed_at is null
                       and t.id = \(id) and t.revoked_at is null
                    """))
            return try session.query(
                PostgresQuery(
                    "staff.token",
                    """
                    select \(unescaped: RecordedStaffToken.columns)
                      from storehook.staff_tokens t join storehook.staff_members m on m.id = t.member_id
                     where t.id = \(id) and lower(m.mail) = lower(\(mail)) and m.removed_at is null
                    """)
            ).first.map { try RecordedStaffToken($0) }
        }
    }

    /// The holder of a token; nil where no member has it, where it was revoked or has expired, and where its holder was removed.
    package func holder(of secret: StaffSecret) async throws -> StaffMember? {
        try await pool.query(
            PostgresQuery(
                "staff.holder",
                """
                select \(unescaped: StaffMember.columns)
                  from storehook.staff_tokens k join storehook.staff_members m on m.id = k.member_id
                 where k.digest = \(secret.digest) and k.revoked_at is null and k.expires_at > now() and m.removed_at is null
                """)
        ).first.map { try StaffMember($0) }
    }

    /// How many valid tokens are read at a time; members with more should revoke some.
    private static let mostTokens = 10_000

    /// The digests of the valid tokens, each with its number.
    package func validTokens() async throws -> [[UInt8]: Int64] {
        let rows = try await pool.query(
            PostgresQuery(
                "staff.valid_tokens",
                """
                select digest, id from storehook.staff_tokens
                 where revoked_at is null and expires_at > now() order by id desc limit \(Self.mostTokens)
                """))
        return Dictionary(try rows.map { (try $0.decode("digest"), try $0.decode("id")) }) { first, _ in first }
    }
}
