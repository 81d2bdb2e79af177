import Foundation

@testable import StorehookClient

/// A cache that outlives the objects that use it, as a file outlives a process.
final class MemoryCache: StatusCache, @unchecked Sendable {
    struct Full: Error {}
    struct Locked: Error {}

    // Guarded by the lock.
    private var stored: Data?
    private var isFull = false
    private var closed = false
    private let lock = NSLock()

    /// What is stored.
    var data: Data? {
        get { lock.withLock { stored } }
        set { lock.withLock { stored = newValue } }
    }

    /// Has each save fail from now on.
    func fill() { lock.withLock { isFull = true } }

    /// Whether it can be neither read nor written, as a file while the device is locked.
    var isClosed: Bool {
        get { lock.withLock { closed } }
        set { lock.withLock { closed = newValue } }
    }

    func load() throws -> Data? {
        try lock.withLock {
            if closed { throw Locked() }
            return stored
        }
    }

    func save(_ data: Data) throws {
        try lock.withLock {
            if isFull { throw Full() }
            if closed { throw Locked() }
            stored = data
        }
    }

    func remove() throws { data = nil }
}
