import AppStorePayloads
package import Base

/// A report of usage of a feature.
package struct UsageReport: Sendable, Hashable {
    /// What it does to the count.
    package enum Act: Sendable, Hashable {
        /// So much more was used: 1 to a million.
        case add(Int64)
        /// So much was given back, of a stock: 1 to a million. A count does not go below 0.
        case release(Int64)
        /// A stock is so much now: 0 to a billion.
        case set(Int64)
    }

    /// Why a report is invalid.
    package enum Fault: Error, Sendable, Hashable {
        /// The amount is not within the act's bounds.
        case amount
        /// The key is not 1 to 255 characters (Unicode scalars) long.
        case key
    }

    /// What it does to the count.
    package let act: Act
    /// Names the report, so that it counts once however often it is sent; nil where it is not repeated.
    package let key: String?
    /// When the usage happened, if not now.
    package let usedAt: Timestamp?

    /// A report of these parts.
    package init(_ act: Act, key: String? = nil, usedAt: Timestamp? = nil) throws(Fault) {
        guard act.bounds.contains(act.amount) else { throw .amount }
        if let key, !(1...255).contains(key.unicodeScalars.count) { throw .key }
        self.act = act
        self.key = key
        self.usedAt = usedAt
    }
}

extension UsageReport.Act {
    /// By how much, or to what.
    var amount: Int64 {
        switch self {
        case .add(let amount), .release(let amount), .set(let amount): amount
        }
    }

    /// Its name in the database.
    var name: String {
        switch self {
        case .add: "add"
        case .release: "release"
        case .set: "set"
        }
    }

    fileprivate var bounds: ClosedRange<Int64> {
        switch self {
        case .add, .release: 1...1_000_000
        case .set: 0...1_000_000_000
        }
    }
}
