import Foundation

@testable import StorehookClient

/// One device of one app, with what a test moves.
@MainActor
final class UsageDevice {
    var account: String? = "alice"
    var tier: String? = "free"
    var now = Date(timeIntervalSince1970: 1_800_000_000)
    let cache = MemoryCache()
    let server: FakeUsageServer

    init(_ rules: FeatureRules = SampleRules.readmigo, beforeCounts: @escaping @Sendable () async -> Void = {}) {
        server = FakeUsageServer(rules, at: now, beforeCounts: beforeCounts)
        (changes, changer) = AsyncStream.makeStream()
    }

    var readAt: Date?
    private var process: FakeProcess?
    private let changes: AsyncStream<Void>
    private let changer: AsyncStream<Void>.Continuation

    /// A tracker of a process that starts now. The one before has ended.
    func launch(bundled: FeatureRules? = SampleRules.readmigo) -> UsageTracker {
        process?.end()
        let process = FakeProcess(cache, server)
        self.process = process
        return UsageTracker(
            server: process, cache: process, bundled: bundled, timeZone: .gmt, log: nil,
            context: { UsageContext(accountID: self.account, tier: self.tier, readAt: self.readAt) },
            now: { self.now }, changes: changes)
    }

    /// As a manager whose state has changed.
    func change() { changer.yield() }

    func pass(_ seconds: TimeInterval) {
        now += seconds
        server.with { $0.now = now }
    }
}
