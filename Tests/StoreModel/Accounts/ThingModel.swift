/// Something bought once, judged at one instant from what was heard of it.
package struct ThingModel: Sendable {
    private let records: [LifeTransaction]

    /// What was heard of it, in any order; nil where it is not bought once.
    package init?(_ messages: [LifeMessage]) {
        records = messages.compactMap(\.transaction).filter { $0.kind != .subscription }.sorted {
            $0.signed < $1.signed
        }
        if records.isEmpty { return nil }
    }

    /// The product.
    package var product: String { records[records.count - 1].product }
    /// What it is.
    package var kind: LifeTransaction.Kind { records[records.count - 1].kind }

    /// When it was bought; nil before. A copy that a restore made is of the same purchase.
    package func purchased(at instant: Int64) -> Int64? {
        records.map { $0.firstPurchased ?? $0.purchased }.min().flatMap { $0 <= instant ? $0 : nil }
    }

    /// The account that Apple signed into it.
    package func token(at instant: Int64) -> String? {
        var token: String?
        for record in records {
            guard let signed = record.token, signed != "00000000-0000-0000-0000-000000000000" else { continue }
            if token == nil || record.signed <= instant { token = signed }
        }
        return token
    }

    /// When it was taken back, where that stands at the instant: a copy follows the transaction that it is a copy of.
    package func revoked(at instant: Int64) -> Int64? {
        var revoked: [String: Int64] = [:]
        for record in records {
            if let date = record.revoked {
                if date <= instant { revoked[record.id] = revoked[record.id] ?? date }
            } else if record.signed <= instant, revoked[record.id] != nil {
                // The same transaction without the fields: reversed, and its copies with it.
                revoked.removeAll()
            }
        }
        return revoked.values.min()
    }

    /// When it ends by itself: by its own record, else by the catalog.
    package func ends(_ catalog: LifeCatalog) -> Int64? {
        guard kind == .term, let record = records.last else { return nil }
        return record.expires ?? catalog.termDays[product].map { record.purchased + $0 * ModelTime.day }
    }

    /// The instants at which anything may change.
    package func borders(_ catalog: LifeCatalog) -> Set<Int64> {
        var borders = Set(records.flatMap { [$0.purchased, $0.signed] + [$0.revoked, $0.expires].compactMap { $0 } })
        if let ends = ends(catalog) { borders.insert(ends) }
        return borders
    }
}
