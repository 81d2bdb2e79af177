package import AppleRecords
package import Base
import HTTPKit
package import Logging
import ServiceLifecycle
import Synchronization

/// Up to when the answers of this process hold all that Apple has posted: read once a minute and kept, so that no request reads it.
///
/// Apple's history is asked hour by hour, so that the instant itself is up to some hours ago; what is kept here is a minute and a quarter older
/// at most. While the database is away, the last one stays: it is true of every later read.
package final class ProvenAnswers: Service {
    private let reader: Refresher<[String: Timestamp]>?

    /// - Parameters:
    ///   - served: each app in each environment that is served.
    ///   - interval: the time between two readings, give or take a quarter.
    ///   - read: reads how complete answers are now.
    package init(
        served: Set<AppEnvironment>, interval: Duration = .seconds(60), logger: Logger,
        read: @escaping @Sendable () async throws -> AnswerProof?
    ) {
        let instants = Mutex(ProvenInstants(served: served))
        reader = Refresher(
            every: interval, warning: "Could not read up to when answers are proven to be complete", logger: logger
        ) {
            let reading = try await read()
            return instants.withLock { instants in
                instants.note(reading)
                return instants.instants
            }
        }
    }

    private init() { reader = nil }

    /// Nothing is proven.
    package static let none = ProvenAnswers()

    /// Up to when reads from now on hold all that Apple has posted in an environment; nil without proof.
    package func instant(in environment: String) -> Timestamp? { reader?.latest?.value[environment] }

    /// Reads now.
    package func refresh() async throws { try await reader?.refresh() }

    /// Reads at once and then once each interval, until graceful shutdown.
    package func run() async throws {
        guard let reader else { return try await gracefulShutdown() }
        try await reader.run()
    }
}
