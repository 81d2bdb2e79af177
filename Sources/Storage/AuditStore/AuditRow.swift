import Base
import Crypto
package import Postgres

/// A row of the audit: one act of staff. The columns are described in `sql/migrations/0062_audit.sql`.
package struct AuditRow: Sendable, Hashable {
    /// From 1 on, without a gap.
    package var place: Int64
    /// When it was done, to the millisecond.
    package var at: PostgresTimestamp
    /// `cli:` and an unproven name, `staff:` and a number, or `proxy:` and the name that a proxy gave.
    package var actor: String
    /// The actor's role at the time.
    package var role: String
    /// What was done.
    package var act: String
    /// Apple's name of the environment; nil where the act belongs to none.
    package var environment: String?
    /// The bundle id; nil where the act belongs to no one app.
    package var app: String?
    /// What kind of thing it was done to.
    package var subjectKind: String
    /// Which one.
    package var subject: String
    /// What it was before, as JSON.
    package var before: String?
    /// What it is after, as JSON.
    package var after: String?
    /// The row that holds the act itself.
    package var record: String?
    /// The database user of the act; `-` for acts that are older than the audit.
    package var login: String
    /// The digest of the personal text.
    package var textDigest: [UInt8]?
    /// The hash of the row before.
    package var previous: [UInt8]
    /// The row's own hash, as stored.
    package var hash: [UInt8]
    /// The personal text, which no hash covers but by its digest.
    package var text: AuditText

    /// Whether the actor is proven.
    package var isProven: Bool { actor.hasPrefix("staff:") || actor.hasPrefix("proxy:") }

    /// The bytes that the hash covers, as the database's `audit_bytes` writes them.
    package func bytes(at place: Int64? = nil) -> [UInt8] {
        let fields: [String?] = [
            "\(place ?? self.place)", "\(at.microsecondsSince1970)", actor, role, act, environment, app, subjectKind,
            subject,
            before, after, record, login, textDigest.map { AuditMark.hex($0) }, AuditMark.hex(previous),
        ]
        var bytes = Array("storehook-audit-1 ".utf8)
        for field in fields {
            guard let field else {
                bytes.append(UInt8(ascii: "-"))
                continue
            }
            bytes += "\(field.utf8.count):".utf8
            bytes += field.utf8
        }
        return bytes
    }

    /// The hash that the row should have.
    /// - Parameter place: where it is supposed to stand; where it does stand, by default.
    package func computedHash(at place: Int64? = nil) -> [UInt8] { Array(SHA256.hash(data: bytes(at: place))) }

    /// The columns of a row, of `a`, with its text, of `t`.
    static let columns = """
        a.place, a.at, a.actor, a.role, a.act, a.environment, a.app, a.subject_kind, a.subject, a.before, a.after, a.record,
        a.login, a.text_digest, a.previous, a.hash, t.place is not null as has_text, t.salt, t.body, t.erased_at
        """

    init(_ row: PostgresRow) throws {
        place = try row.decode("place")
        at = try row.decode("at")
        actor = try row.decode("actor")
        role = try row.decode("role")
        act = try row.decode("act")
        environment = try row.decode("environment")
        app = try row.decode("app")
        subjectKind = try row.decode("subject_kind")
        subject = try row.decode("subject")
        before = try row.decode("before")
        after = try row.decode("after")
        record = try row.decode("record")
        login = try row.decode("login")
        textDigest = try row.decode("text_digest")
        previous = try row.decode("previous")
        hash = try row.decode("hash")
        if let erasedAt = try row.decode("erased_at", as: PostgresTimestamp?.self) {
            text = .erased(at: Timestamp(erasedAt))
        } else if let body = try row.decode("body", as: String?.self) {
            text = .kept(salt: try row.decode("salt"), body: body)
        } else {
            text = textDigest == nil ? .none : .lost
        }
    }
}
