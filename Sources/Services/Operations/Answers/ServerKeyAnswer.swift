package import AccountStore
import AppStorePayloads
import Base
import Postgres
import PurchaseStore

/// The keys of the operator's own servers, as people and scripts see them: all but the keys.
package struct ServerKeyAnswer: Encodable, Sendable {
    private struct Entry: Encodable, Sendable {
        var id: Int64
        var name: String
        var createdAt: String
        var createdBy: String
        var lastUsedAt: String?
        var revokedAt: String?
        var revokedBy: String?
    }

    private let keys: [Entry]

    /// An answer about these.
    package init(_ keys: [RecordedServerKey]) {
        self.keys = keys.map { key in
            Entry(
                id: key.id, name: key.name, createdAt: "\(Timestamp(key.createdAt))", createdBy: key.createdBy,
                lastUsedAt: key.lastUsedAt.map { "\(Timestamp($0))" },
                revokedAt: key.revokedAt.map { "\(Timestamp($0))" }, revokedBy: key.revokedBy)
        }
    }

    /// For people.
    package var text: String {
        guard !keys.isEmpty else { return "no keys; make one with storehook staff token --account-api" }
        var table = Table(["KEY", "NAME", "MADE", "BY", "LAST USED", "STATE"], numeric: [0])
        for key in keys {
            table.add([
                "\(key.id)", key.name, key.createdAt, key.createdBy, key.lastUsedAt ?? "never",
                key.revokedAt.map { "revoked \($0) by \(key.revokedBy ?? "-")" } ?? "good",
            ])
        }
        return table.text
    }
}
