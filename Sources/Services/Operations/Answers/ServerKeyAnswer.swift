package import AccountStore
import Base
import Postgres

extension CommandAnswer {
    /// The keys of the operator's own servers: all but the keys.
    /// - Parameter text: for people; a line a key by default.
    package init(_ keys: [RecordedServerKey], text: String? = nil) {
        let table =
            keys.isEmpty
            ? "no keys; make one with storehook staff token --account-api" : Self.serverKey.table(of: keys)
        self.init(["keys": Self.serverKey.values(of: keys)], text: text ?? table)
    }

    private static let serverKey = CommandShape<RecordedServerKey>([
        .init("id", column: "KEY", \.id), .init("name", column: "NAME", \.name),
        .init("created_at", column: "MADE", \.createdAt), .init("created_by", column: "BY", \.createdBy),
        .init("last_used_at", \.lastUsedAt),
        .column("LAST USED") { $0.lastUsedAt.map { "\(Timestamp($0))" } ?? "never" },
        .init("revoked_at", \.revokedAt), .init("revoked_by", \.revokedBy),
        .column("STATE") { key in
            key.revokedAt.map { "revoked \(Timestamp($0)) by \(key.revokedBy ?? "-")" } ?? "good"
        },
    ])
}
