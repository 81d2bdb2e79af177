import Base
import EventStore
import Events
import HTTPKit
import Logging
import NIOSSL
import Postgres
import ServiceLifecycle
import TestSupport
import WebhookSupport

@testable import Webhooks

/// Workers that deliver while a test runs.
struct RunningWebhooks: Sendable {
    static let local = AddressPolicy(
        allowsHTTP: true, allowedNetworks: [AddressBlock("127.0.0.0/8")].compactMap(\.self))

    /// A schedule that leaves no test waiting.
    static let quick = RetrySchedule.listed([Duration](repeating: .milliseconds(20), count: 50), jitter: 1...1.2)

    /// Runs so many workers while `body` lasts, and then stops them gracefully.
    static func with<T: Sendable>(
        _ site: EndpointSite, workers: Int = 1, schedule: RetrySchedule = quick, roots: [NIOSSLCertificate] = [],
        limits: EndpointCaller.Limits = EndpointCaller.Limits(total: .seconds(10)), logger: Logger = quiet,
        metrics: WebhookMetrics = WebhookMetrics(), _ body: () async throws -> T
    ) async throws -> T {
        var services: [any Service] = []
        for number in 0..<workers {
            let pool = PostgresPool(configuration: site.database.configuration, size: 3, logger: quiet)
            services.append(pool)
            services.append(
                Webhooks(
                    pool: pool, key: site.key,
                    caller: EndpointCaller(local, resolver: SystemResolver(threads: 1), roots: roots, limits: limits),
                    listener: nil,
                    configuration: WebhookConfiguration(
                        name: "test-\(number)", schedule: schedule, pollInterval: .milliseconds(50),
                        busyInterval: .milliseconds(5)),
                    logger: logger, metrics: metrics))
        }
        let group = ServiceGroup(services: services, logger: quiet)
        let running = Task { try await group.run() }
        let result: Result<T, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        await group.triggerGracefulShutdown()
        try await running.value
        return try result.get()
    }
}

extension EndpointSite {
    /// Waits until so many deliveries have come to their end.
    func untilEnded(_ count: Int, within deadline: Duration = .seconds(120)) async throws {
        try await eventually("\(count) deliveries come to their end", within: deadline) {
            try await value("select count(*) from storehook.deliveries") >= Int64(count)
        }
    }
}
