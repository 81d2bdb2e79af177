import EvidenceStore
import Postgres
import Simulation

/// What Apple says of the lives of a run, and what of it arrives: in random order, some of it twice, some of it not at all.
struct FaultsIntake: Sendable {
    /// What is left out, in percent.
    static let lostPercent = 20
    /// Notifications per life, on average.
    static let each = 4

    /// All that Apple lists.
    let notifications: [UnsignedNotification]
    /// What is posted, by its number, in that order; what comes again is in it again.
    let posted: [Int]
    /// What is not posted, by its number.
    let lost: [Int]
    private let authority: SimulatedAuthority

    /// - Parameter end: when the last notification was signed, in milliseconds since 1970.
    init(lives: Int, seed: UInt64, endingAt end: Int64, by authority: SimulatedAuthority) {
        self.authority = authority
        // What the stand-in lists for the same numbers.
        notifications = Simulation(
            seed: seed, subscribers: lives, notifications: lives * Self.each, app: .example.in(.production),
            endingAt: end
        ).deliveries.map(\.notification)
        var random = SeededGenerator(seed: seed)
        let order = notifications.indices.shuffled(using: &random)
        let count = order.count * Self.lostPercent / 100
        lost = Array(order.prefix(count))
        let heard = order.dropFirst(count)
        posted = (heard + heard.shuffled(using: &random).prefix(heard.count / 5)).shuffled(using: &random)
    }

    /// Repeats among what is posted.
    var repeats: Int { posted.count - (notifications.count - lost.count) }

    /// The lives that anything is heard of.
    var lives: Int { Set(notifications.compactMap { $0.transaction?.appTransactionId }).count }

    /// Stores all that is posted, as a receiver would.
    func post(to database: BenchDatabase) async throws { try await store(posted, in: database) }

    /// Stores some of what was lost, as Apple's later tries would.
    /// - Returns: how many.
    func postLate(to database: BenchDatabase) async throws -> Int {
        let late = Array(lost.prefix(lost.count / 10))
        try await store(late, in: database)
        return late.count
    }

    private func store(_ numbers: [Int], in database: BenchDatabase) async throws {
        let outbox = Outbox(database.pool)
        try await outbox.learnHeaders()
        // A repeat is the very same text.
        var left = Dictionary(numbers.map { ($0, 1) }, uniquingKeysWith: +)
        var texts: [Int: [UInt8]] = [:]
        for start in stride(from: 0, to: numbers.count, by: 100) {
            var bodies: [[UInt8]] = []
            for number in numbers[start..<min(start + 100, numbers.count)] {
                let text = texts[number] ?? Array(notifications[number].signed(by: authority).utf8)
                left[number, default: 1] -= 1
                texts[number] = left[number, default: 0] > 0 ? text : nil
                bodies.append(text)
            }
            try await outbox.store(bodies)
        }
    }
}
