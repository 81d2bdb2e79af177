import Synchronization

/// Addresses that lately did not answer. All connections of this process try the others first, so that each address costs one wait.
enum SilentAddresses {
    /// For how long one is tried last.
    private static let memory = Duration.seconds(60)
    private static let known = Mutex<[String: ContinuousClock.Instant]>([:])

    static func note(_ place: String) {
        known.withLock { known in
            known = known.filter { $0.value > .now }
            known[place] = .now + memory
        }
    }

    static func forget(_ place: String) { known.withLock { _ = $0.removeValue(forKey: place) } }

    static func contains(_ place: String) -> Bool { known.withLock { ($0[place] ?? .now) > .now } }
}
