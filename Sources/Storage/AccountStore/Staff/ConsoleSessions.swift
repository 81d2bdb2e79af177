package import Postgres

/// Who is logged in to the pages of the console. A session ends by itself: after an hour in which nothing was asked, and twelve hours after
/// the login.
package struct ConsoleSessions: Sendable {
    private let pool: PostgresPool

    /// The sessions behind a pool of connections. One is enough.
    package init(_ pool: PostgresPool) { self.pool = pool }

    /// The most sessions of a member: a login beyond ends the oldest.
    package static let mostOfOne = 20
    /// How many valid ones are read at a time.
    private static let most = 20_000

    /// Whether a session `s` goes on.
    private static let isValid = "s.seen_at > now() - interval '1 hour' and s.begun_at > now() - interval '12 hours'"

    /// Begins a session of a member, with a secret that was made for it.
    /// - Parameters:
    ///   - hash: that of the password that was checked.
    ///   - before: the session that the same browser had, which ends.
    /// - Returns: false, and there is none, where the member has another password by now.
    package func begin(
        _ secret: SessionSecret, for member: Int64, under hash: PasswordHash, after before: SessionSecret? = nil
    ) async throws -> Bool {
        try await pool.withTransaction(TransactionOptions(name: "sessions.begin")) { session in
            try session.query(
                PostgresQuery(
                    "sessions.expire",
                    """
                    delete from storehook.console_sessions s
                     where not (\(unescaped: Self.isValid)) or s.digest = \(before?.digest)
                    """))
            let begun = try session.query(
                PostgresQuery(
                    "sessions.begin",
                    """
                    insert into storehook.console_sessions (digest, member_id)
                    select \(secret.digest), p.member_id from storehook.staff_passwords p
                     where p.member_id = \(member) and p.hash = \(hash.text)
                    """)
            ).affectedRows
            guard begun == 1 else { return false }
            try session.query(
                PostgresQuery(
                    "sessions.bound",
                    """
                    delete from storehook.console_sessions s
                     where s.digest in (
                         select o.digest from storehook.console_sessions o
                          where o.member_id = \(member) order by o.begun_at desc, o.digest offset \(Self.mostOfOne))
                    """))
            return true
        }
    }

    /// The member whose session this is; nil where none has it, where it has ended, and where its member was removed. It goes on from now.
    package func holder(of secret: SessionSecret) async throws -> StaffMember? {
        // Written once a minute at most: each page asks.
        try await pool.query(
            PostgresQuery(
                "sessions.holder",
                """
                with seen as (
                    update storehook.console_sessions s set seen_at = now()
                     where s.digest = \(secret.digest) and s.seen_at < now() - interval '1 minute'
                       and \(unescaped: Self.isValid)
                )
                select \(unescaped: StaffMember.columns)
                  from storehook.console_sessions s join storehook.staff_members m on m.id = s.member_id
                 where s.digest = \(secret.digest) and \(unescaped: Self.isValid) and m.removed_at is null
                """)
        ).first.map { try StaffMember($0) }
    }

    /// Ends a session.
    package func end(_ secret: SessionSecret) async throws {
        try await pool.query(
            PostgresQuery(
                "sessions.end", "delete from storehook.console_sessions s where s.digest = \(secret.digest)"))
    }

    /// The digests of the valid sessions, each with the number of its member.
    package func valid() async throws -> [[UInt8]: Int64] {
        let rows = try await pool.query(
            PostgresQuery(
                "sessions.valid",
                """
                select s.digest, s.member_id from storehook.console_sessions s
                 where \(unescaped: Self.isValid) order by s.begun_at desc limit \(Self.most)
                """))
        return Dictionary(try rows.map { (try $0.decode("digest"), try $0.decode("member_id")) }) { first, _ in first }
    }
}
