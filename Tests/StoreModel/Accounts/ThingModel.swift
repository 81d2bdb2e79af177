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

    /// When it was bought; nil before. Where the purchase itself was lost, its first copy tells of it from its own date on.
    package func purchased(at instant: Int64) -> Int64? {
        records.map(\.purchased).min().flatMap { $0 <= instant ? $0 : nil }
    }

    /// When the customer last bought it, by an instant; nil before the first time. A copy is not bought.
    package func lastBought(by instant: Int64) -> Int64? { purchases.last { $0.begins <= instant }?.begins }

    /// The account that Apple signed into it.
    package func token(at instant: Int64) -> String? {
        var token: String?
        for record in records {
            guard let signed = record.token, signed != "00000000-0000-0000-0000-000000000000" else { continue }
            if token == nil || record.signed <= instant { token = signed }
        }
        return token
    }

    /// What was paid for, each with its copies, in the order of purchase.
    ///
    /// A non-consumable is bought again only while it is refunded: bought, first bought by its own word, and signed after
    /// the refund. All else are copies that restores made.
    private var purchases: [(begins: Int64, ids: Set<String>)] {
        var seen = Set<String>()
        let firsts = records.filter { seen.insert($0.id).inserted }.sorted {
            ($0.purchased, $0.id) < ($1.purchased, $1.id)
        }
        var purchases: [(begins: Int64, ids: Set<String>)] = []
        for record in firsts {
            let begins = record.firstPurchased ?? record.purchased
            guard let last = purchases.last else {
                purchases.append((record.purchased, [record.id]))
                continue
            }
            let refund = revoked(records.filter { last.ids.contains($0.id) }, at: record.purchased)
            if kind == .forever, let refund, refund < min(begins, record.signed) {
                purchases.append((record.purchased, [record.id]))
            } else {
                let place = purchases.lastIndex { $0.begins <= begins } ?? 0
                purchases[place].ids.insert(record.id)
            }
        }
        return purchases
    }

    /// When it was taken back, where that stands at the instant; nil while anything of it stands that was paid for.
    package func revoked(at instant: Int64) -> Int64? {
        var latest: Int64?
        for (begins, ids) in purchases where begins <= instant {
            guard let date = revoked(records.filter { ids.contains($0.id) }, at: instant) else { return nil }
            latest = max(latest ?? date, date)
        }
        return latest
    }

    /// A copy follows the transaction that it is a copy of.
    private func revoked(_ records: [LifeTransaction], at instant: Int64) -> Int64? {
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
