/// The consumables of one line, judged from nothing but what was heard of them.
package struct CreditModel: Sendable {
    /// How many were bought: each transaction is a credit of its own.
    package private(set) var bought: Int64 = 0
    /// How much was taken back, in 1/100,000 of a unit: Apple's percentage has three decimals.
    package private(set) var takenBack: Int64 = 0

    /// What was heard of one line, in any order.
    package init(_ messages: [LifeMessage]) {
        var latest: [String: LifeTransaction] = [:]
        for record in messages.compactMap(\.transaction).sorted(by: { $0.signed < $1.signed }) {
            latest[record.id] = record
        }
        for record in latest.values where record.kind == .consumable {
            bought += record.quantity
            if record.revoked != nil { takenBack += record.quantity * (record.percentage ?? 100_000) }
        }
    }
}
