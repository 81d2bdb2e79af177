import Foundation

@testable import StorehookClient

/// A server of one account's use, by the rules of the real one: a key counts once, a use counts in the day of its instant, and more than
/// what is left is refused whole.
final class FakeUsageServer: UsageServer, @unchecked Sendable {
    /// What becomes of a request.
    enum Network: Sendable { case up, down, losingAnswers }
    struct Away: Error {}

    struct State {
        var network = Network.up
        var now: Date
        var tier = "free"
        var rules: FeatureRules
        /// By feature and the end of the window.
        var used: [String: [Date?: Int64]] = [:]
        var keys: [String: Int64] = [:]
        /// The reports that arrived, oldest first.
        var arrived: [UsageLedger.Entry] = []
        var refused = 0
        var readings = 0
        var countings = 0
        /// Whether it takes every report for invalid.
        var refusesAllInstants = false
    }

    // Guarded by the lock.
    private var state: State
    private let lock = NSLock()
    /// Waits before each answer that reads counts, where a test sets it.
    private let beforeCounts: @Sendable () async -> Void

    init(
        _ rules: FeatureRules, at now: Date, beforeCounts: @escaping @Sendable () async -> Void = {}
    ) {
        state = State(now: now, rules: rules)
        self.beforeCounts = beforeCounts
    }

    func with<Value>(_ body: (inout State) throws -> Value) rethrows -> Value {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }

    /// How much was used in all windows.
    func total(of feature: String) -> Int64 { with { $0.used[feature]?.values.reduce(0, +) ?? 0 } }

    func rules() async throws -> FeatureRules {
        try with {
            $0.readings += 1
            guard $0.network != .down else { throw Away() }
            return $0.rules
        }
    }

    func counts() async throws -> [String: UsageLedger.Line] {
        await beforeCounts()
        return try with { state in
            state.countings += 1
            guard state.network == .up else { throw Away() }
            var lines: [String: UsageLedger.Line] = [:]
            for feature in state.rules.features {
                guard let period = Self.period(feature.id, state) else { continue }
                let window = UsageWindow.estimated(period, at: state.now, in: .gmt)
                lines[feature.id] = .init(window: window, used: state.used[feature.id]?[window.resetsAt] ?? 0)
            }
            return lines
        }
    }

    func report(_ entry: UsageLedger.Entry) async throws -> UsageReportFate {
        try with { state in
            guard state.network != .down else { throw Away() }
            let fate = Self.fate(entry, &state)
            guard state.network == .up else { throw Away() }
            return fate
        }
    }

    private static func fate(_ entry: UsageLedger.Entry, _ state: inout State) -> UsageReportFate {
        state.arrived.append(entry)
        if let used = state.keys[entry.key] { return .counted(used: entry.isDated ? nil : used, window: nil) }
        guard let period = period(entry.feature, state) else {
            state.refused += 1
            return .refused
        }
        let usedAt = entry.isDated ? entry.usedAt : state.now
        guard !state.refusesAllInstants, usedAt <= state.now + 300, usedAt >= state.now - 35 * 86_400 else {
            return .invalid
        }
        let window = UsageWindow.estimated(period, at: usedAt, in: .gmt)
        let before = state.used[entry.feature]?[window.resetsAt] ?? 0
        let after = entry.act.applied(to: before)
        let most = state.rules.limit(of: entry.feature, in: state.tier)?.most ?? .max
        guard after <= most || after <= before else {
            state.refused += 1
            return .refused
        }
        state.used[entry.feature, default: [:]][window.resetsAt] = after
        state.keys[entry.key] = after
        return .counted(used: after, window: window)
    }

    /// What a feature is counted over; nil where the tier does not count it.
    private static func period(_ feature: String, _ state: State) -> FeatureLimit.Period? {
        switch state.rules.limit(of: feature, in: state.tier) {
        case .count(_, let period): period
        case .unlimited: ["ai_explain": .day, "voice_chat": .month][feature] ?? .total
        case .closed, .open, nil: nil
        }
    }
}
