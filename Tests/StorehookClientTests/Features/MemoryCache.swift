import Foundation

@testable import StorehookClient

/// A cache that outlives the objects that use it, as a file outlives a process.
final class MemoryCache: StatusCache, @unchecked Sendable {
    struct Full: Error {}

    // Guarded by the lock.
    private var stored: Data?
    private var isFull = false
    private let lock = NSLock()

    /// What is stored.
    var data: Data? {
        get { lock.withLock { stored } }
        set { lock.withLock { stored = newValue } }
    }

    /// Has each save fail from now on.
    func fill() { lock.withLock { isFull = true } }

    func load() throws -> Data? { data }

    func save(_ data: Data) throws {
        try lock.withLock {
            if isFull { throw Full() }
            stored = data
        }
    }

    func remove() throws { data = nil }
}
