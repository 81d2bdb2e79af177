import AppStorePayloads
package import AppStoreServerAPI
import AppStoreVerification
package import AppleRecords
package import Base
package import Foundation
import Postgres

/// One test notification that is asked of Apple and followed while a caller waits: asked, posted, stored, applied.
package struct TestNotificationTrial: Sendable {
    /// How it went so far.
    package struct Way: Sendable {
        /// When Apple was asked, by this machine's clock; nil if that was another time.
        package var askedAt: Timestamp?
        /// What Apple gave for it.
        package var token: String
        /// Which of Apple's environments was asked.
        package var environment: Environment?
        /// What Apple says of posting it; nil while it does not know of it.
        package var status: TestNotificationStatus?
        /// Whether the database was asked for it.
        package var isLookedFor = false
        /// Where it is; nil while it is on its way, or pending.
        package var arrival: CanaryArrival?

        /// The notification's own name; nil while Apple does not know of it.
        package var notificationUUID: UUID? {
            status.flatMap { UUID(uuidString: $0.record.payload.payload.notificationUUID) }
        }

        /// When Apple first tried to post it, by Apple's clock.
        package var postedAt: Timestamp? { status?.sendAttempts.compactMap(\.attemptDate).min() }
    }

    /// How long to wait for it.
    package struct Patience: Sendable {
        /// Before each question whether Apple has posted it. Apple posts within a second or two; its own list follows some seconds later.
        package var questions: [Duration]
        /// How often the database is asked then. A worker is woken by what is stored, and polls at worst each second.
        package var looks: Int
        /// Between two of these.
        package var betweenLooks: Duration

        /// By default up to 20 s, and then 20 s.
        package init(
            questions: [Duration] = [.seconds(2), .seconds(3), .seconds(5), .seconds(10)], looks: Int = 40,
            betweenLooks: Duration = .milliseconds(500)
        ) {
            self.questions = questions
            self.looks = looks
            self.betweenLooks = betweenLooks
        }

        /// As it is now, and no waiting.
        package static let none = Patience(questions: [.zero], looks: 1)
    }

    private let client: AppStoreClient
    private let canaries: Canaries?
    private let patience: Patience
    private let now: @Sendable () -> Timestamp

    /// A trial.
    /// - Parameters:
    ///   - canaries: where it is looked for; nil: nowhere.
    ///   - now: this machine's clock.
    package init(
        _ client: AppStoreClient, _ canaries: Canaries?, patience: Patience = Patience(),
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.client = client
        self.canaries = canaries
        self.patience = patience
        self.now = now
    }

    /// Has Apple post one, and follows it.
    /// - Throws: `AppStoreFailure`, or `PostgresError`.
    package func run(in environment: Environment?) async throws -> Way {
        let asked = now()
        let answered = try await client.ask(.testNotification, in: environment)
        var way = Way(askedAt: asked, token: answered.value.testNotificationToken, environment: answered.environment)
        try await follow(&way)
        return way
    }

    /// Follows one that Apple was asked for another time.
    package func follow(_ token: String, in environment: Environment?) async throws -> Way {
        var way = Way(askedAt: nil, token: token, environment: environment)
        try await follow(&way)
        return way
    }

    private func follow(_ way: inout Way) async throws {
        for wait in patience.questions {
            if wait > .zero { try await Task.sleep(for: wait) }
            way.status = try await status(way)
            if way.status?.sendAttempts.isEmpty == false { break }
        }
        guard let canaries, let uuid = way.notificationUUID else { return }
        way.isLookedFor = true
        for look in 1...max(1, patience.looks) {
            way.arrival = try await canaries.arrival(of: uuid)
            if way.arrival != nil { return }
            if look < patience.looks { try await Task.sleep(for: patience.betweenLooks) }
        }
    }

    /// Nil while Apple does not know of it.
    private func status(_ way: Way) async throws -> TestNotificationStatus? {
        do {
            return try await client.ask(.testNotificationStatus(way.token), in: way.environment).value
        } catch let failure as AppStoreFailure {
            guard failure.reason == .apple(.testNotificationNotFound) else { throw failure }
            return nil
        }
    }
}
