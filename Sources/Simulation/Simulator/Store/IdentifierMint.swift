import Base

/// Mints transaction and order identifiers that look like Apple's and never meet those of another lane.
///
/// A lane is ten million consecutive numbers; every subscriber has one. Sandbox identifiers have sixteen digits, the first a 2 in the
/// lower lanes; those of Production have fifteen there.
struct IdentifierMint: Sendable, Hashable, Codable {
    private static let laneWidth: Int64 = 10_000_000

    private let base: Int64
    private var random: SeededGenerator
    private var lastTransaction: Int64
    private var lastOrder: Int64

    /// - Parameter start: where in the lane it begins.
    init(environment: SimulatedApp.Environment, lane: Int, from start: Int64) {
        (lastTransaction, lastOrder) = (start, start)

        let first: Int64 = environment == .sandbox ? 2_000_000_000_000_000 : 400_000_000_000_000
        base = first + Int64(lane) * Self.laneWidth
        random = SeededGenerator(seed: UInt64(truncatingIfNeeded: lane))
    }

    mutating func transactionId() -> String {
        lastTransaction += random.number(in: 1...3)
        return String(base + lastTransaction)
    }

    mutating func webOrderLineItemId() -> String {
        lastOrder += random.number(in: 1...3)
        return String(base + lastOrder)
    }
}
