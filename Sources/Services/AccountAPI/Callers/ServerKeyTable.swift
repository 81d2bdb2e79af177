package import APIKit
package import AccountStore
import Base
package import Logging
import Synchronization

/// The server keys that are good; which of them were used is noted each time that they are read.
package typealias ServerKeyTable = SecretTable<RecordedServerKey>

/// The keys that were used since that was last noted in the database.
private final class UsedKeys: Sendable {
    private let ids = Mutex<Set<Int64>>([])

    func insert(_ id: Int64) { ids.withLock { _ = $0.insert(id) } }

    func note(_ body: (Set<Int64>) async throws -> Void) async throws {
        let noted = ids.withLock { ids in
            defer { ids = [] }
            return ids
        }
        do {
            try await body(noted)
        } catch {
            ids.withLock { $0.formUnion(noted) }
            throw error
        }
    }
}

extension SecretTable where Holder == RecordedServerKey {
    /// A table that nothing was read into yet.
    package convenience init(
        _ keys: ServerKeys, logger: Logger, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.init(logger: logger, clock: clock, noting: { try await keys.noteUse(of: $0) }) { try await keys.valid() }
    }

    /// - Parameters:
    ///   - pause: the shortest time between two readings for keys that are not known.
    ///   - note: notes that keys were used.
    ///   - read: reads those that are good.
    convenience init(
        pause: Duration = .seconds(1), logger: Logger,
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        noting note: @escaping @Sendable ([Int64]) async throws -> Void = { _ in },
        read: @escaping @Sendable () async throws -> [RecordedServerKey]
    ) {
        let used = UsedKeys()
        self.init(
            pause: pause, warning: "Could not read which server keys are good", logger: logger, clock: clock,
            onUse: { used.insert($0.id) }
        ) {
            try await used.note { try await note($0.sorted()) }
            return Dictionary(try await read().map { ($0.digest, $0) }) { first, _ in first }
        }
    }
}
