package import Postgres

/// The passwords of members of the staff for the pages of the console. The database puts each change on record in the audit, and ends the
/// sessions of the member.
package struct StaffPasswords: Sendable {
    private let pool: PostgresPool

    /// The passwords behind a pool of connections. One is enough.
    package init(_ pool: PostgresPool) { self.pool = pool }

    /// Gives a member a password, in the place of the one before.
    /// - Parameter show: called before the commit; where it throws, nothing is changed.
    /// - Returns: the member; nil where no member has this address.
    package func set(
        _ hash: PasswordHash, for mail: String, by person: String,
        showing show: @Sendable (StaffMember) throws -> Void = { _ in }
    ) async throws -> StaffMember? {
        let change = PostgresQuery(
            "staff.set_password",
            """
            insert into storehook.staff_passwords as known (member_id, hash, set_by)
            select m.id, \(hash.text), \(String(person.prefix(200)))
              from storehook.staff_members m
             where lower(m.mail) = lower(\(mail)) and m.removed_at is null
               for share
                on conflict (member_id) do update set hash = excluded.hash, set_at = now(), set_by = excluded.set_by
            returning member_id
            """)
        return try await pool.withTransaction(.showing("staff.set_password")) { session in
            guard let id = try session.query(change).first?.decode(0, as: Int64.self) else { return nil }
            let member = try StaffMember(
                session.query(
                    PostgresQuery(
                        "staff.with_password",
                        "select \(unescaped: StaffMember.columns) from storehook.staff_members m where m.id = \(id)")
                ).one())
            try show(member)
            return member
        }
    }

    /// A member by the address, in either letter case, with the hash of the password; nil where there is no such member, or none with a
    /// password.
    /// - Throws: `PostgresError`, also where a newer release wrote the hash.
    package func find(_ mail: String) async throws -> (member: StaffMember, hash: PasswordHash)? {
        let rows = try await pool.query(
            PostgresQuery(
                "staff.find_password",
                """
                select \(unescaped: StaffMember.columns), p.hash
                  from storehook.staff_members m join storehook.staff_passwords p on p.member_id = m.id
                 where lower(m.mail) = lower(\(mail)) and m.removed_at is null
                """))
        guard let row = rows.first else { return nil }
        guard let hash = PasswordHash(try row.decode("hash", as: String.self)) else {
            throw PostgresError(
                .decoding, "column \"hash\": a value that this release does not know", operation: "decode")
        }
        return (member: try StaffMember(row), hash: hash)
    }
}
