/// What a report of use does to a count.
enum UsageAct: Sendable, Hashable, Codable {
    /// So much more was used.
    case add(Int64)
    /// So much of a stock was given back. A stock does not fall below 0.
    case release(Int64)
    /// A stock is so much now.
    case set(Int64)

    /// What the server takes in one report.
    static let bounds: ClosedRange<Int64> = 1...1_000_000
    /// What the server takes as a stock.
    static let stock: ClosedRange<Int64> = 0...1_000_000_000

    /// Whether the server takes its amount.
    var isWithinBounds: Bool {
        switch self {
        case .add(let amount), .release(let amount): Self.bounds.contains(amount)
        case .set(let amount): Self.stock.contains(amount)
        }
    }

    /// A count after it.
    func applied(to used: Int64) -> Int64 {
        switch self {
        case .add(let amount): used + amount
        case .release(let amount): max(0, used - amount)
        case .set(let amount): amount
        }
    }
}
