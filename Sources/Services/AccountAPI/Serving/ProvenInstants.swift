package import AppleRecords
package import Base
import Postgres

/// Up to when answers hold all that Apple has posted, by environment: what was proven to be held at one reading, once all that was held then is
/// applied. Readings come one after the other; pure.
package struct ProvenInstants: Sendable, Hashable {
    /// What a reading has proven to be held, and when that was.
    private struct Held: Sendable, Hashable {
        var instants: [String: Timestamp]
        var at: PostgresTimestamp
    }

    /// How far ids and dates of the queue may be out of order: longer than storing takes.
    private static let disorder: Int64 = 5000

    private let served: Set<AppEnvironment>
    private var held: Held?
    /// By environment; nothing where nothing is proven.
    package private(set) var instants: [String: Timestamp] = [:]

    /// Nothing is proven yet.
    /// - Parameter served: each app in each environment that is served here: without a proof for all of them there is none for their
    ///   environment, because an account may have bought in any of them.
    package init(served: Set<AppEnvironment>) { self.served = served }

    /// Takes note of a reading; nil where Apple was never asked.
    package mutating func note(_ reading: AnswerProof?) {
        guard let reading else {
            (held, instants) = (nil, [:])
            return
        }
        let proven = instants(of: reading)
        // What is not proven any more, such as with another app, is not claimed any longer.
        instants = instants.reduce(into: [:]) { kept, one in
            if let instant = proven[one.key] { kept[one.key] = min(instant, one.value) }
        }
        if let held, isApplied(held.at, by: reading) {
            publish(held.instants, proven)
            self.held = nil
        }
        if reading.waitingSince == nil {
            publish(proven, proven)
            held = nil
        } else if held == nil {
            held = Held(instants: proven, at: reading.readAt)
        }
    }

    /// Whether all that was stored by an instant is applied.
    private func isApplied(_ instant: PostgresTimestamp, by reading: AnswerProof) -> Bool {
        guard let waitingSince = reading.waitingSince else { return true }
        return waitingSince.millisecondsSince1970 > instant.millisecondsSince1970 + Self.disorder
    }

    /// - Parameter proven: what is proven still.
    private mutating func publish(_ instants: [String: Timestamp], _ proven: [String: Timestamp]) {
        for (environment, instant) in instants {
            guard let most = proven[environment] else { continue }
            self.instants[environment] = max(min(instant, most), self.instants[environment] ?? .distantPast)
        }
    }

    /// The earliest instant of an environment's apps; none where one of them has none. An app that was never released has nothing to miss.
    private func instants(of reading: AnswerProof) -> [String: Timestamp] {
        let known = Set(reading.scopes.map(\.scope))
        let unknown = Set(served.subtracting(known).map(\.environment))
        return Dictionary(grouping: reading.scopes, by: \.scope.environment).compactMapValues { scopes in
            guard !unknown.contains(scopes[0].scope.environment) else { return nil }
            let released = scopes.filter { !$0.isUnreleased }
            let ends = released.compactMap(\.provenUntil)
            guard ends.count == released.count else { return nil }
            return ends.map { Timestamp($0) }.min()
        }
    }
}
