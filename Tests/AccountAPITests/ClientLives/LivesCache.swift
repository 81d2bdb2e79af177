import Foundation
import StorehookClient

/// What a life's app has kept on its device, from one launch to the next.
final class LivesCache: StatusCache, @unchecked Sendable {
    // The lock guards `kept`.

    private let lock = NSLock()
    private var kept: Data?

    func load() throws -> Data? { change { $0 } }

    func save(_ data: Data) throws { change { $0 = data } }

    func remove() throws { change { $0 = nil } }

    /// Half of it is lost: it cannot be read.
    func damage() { change { $0 = $0.map { $0.prefix($0.count / 2) } } }

    private func change<T>(_ body: (inout Data?) -> T) -> T {
        lock.lock()
        defer { lock.unlock() }
        return body(&kept)
    }
}
