import Foundation

@testable import StorehookClient

/// What one process has of a device: once that has ended, it writes nothing and hears nothing more.
final class FakeProcess: StatusCache, UsageServer, @unchecked Sendable {
    struct Ended: Error {}

    private let cache: MemoryCache
    private let server: FakeUsageServer
    // Guarded by the lock.
    private var isRunning = true
    private let lock = NSLock()

    init(_ cache: MemoryCache, _ server: FakeUsageServer) { (self.cache, self.server) = (cache, server) }

    /// Ends it, whatever it is doing.
    func end() { lock.withLock { isRunning = false } }

    private func running() throws { try lock.withLock { if !isRunning { throw Ended() } } }

    func load() throws -> Data? {
        try running()
        return try cache.load()
    }

    func save(_ data: Data) throws {
        try running()
        try cache.save(data)
    }

    func remove() throws {
        try running()
        try cache.remove()
    }

    func rules() async throws -> FeatureRules {
        try running()
        let rules = try await server.rules()
        try running()
        return rules
    }

    func counts() async throws -> [String: UsageLedger.Line] {
        try running()
        let counts = try await server.counts()
        try running()
        return counts
    }

    func report(_ entry: UsageLedger.Entry) async throws -> UsageReportFate {
        try running()
        let fate = try await server.report(entry)
        try running()
        return fate
    }
}
