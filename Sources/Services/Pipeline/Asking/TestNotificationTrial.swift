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
        /// Why it is a dead letter, as the code of its reason; nil where it is none, or the reason cannot be seen.
        package var deadReason: String?
        /// Where it waits, where it has not arrived; nil where that was not looked for.
        package var waiting: CanaryWaiting?
        /// This machine's clock minus Apple's, to the second; nil where Apple's answer does not say the time.
        package var clockAhead: Duration?

        /// One that is asked for.
        package init(askedAt: Timestamp? = nil, token: String, environment: Environment?) {
            self.askedAt = askedAt
            self.token = token
            self.environment = environment
        }

        /// The notification's own name; nil while Apple does not know of it.
        package var notificationUUID: UUID? {
            status.flatMap { UUID(uuidString: $0.record.payload.payload.notificationUUID) }
        }

        /// What Apple says of its last attempt to post it.
        package var result: SendAttempt.Result? { status?.sendAttempts.last?.sendAttemptResult }

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

        /// So long in all: half of it for Apple to post, asking seldomer as time goes by, and half until it is applied.
        package init(within total: Duration) {
            let half = total / 2
            var questions: [Duration] = []
            var (spent, wait) = (Duration.zero, Duration.seconds(1))
            while spent < half {
                wait = min(wait, half - spent)
                questions.append(wait)
                spent += wait
                wait = min(wait * 2, .seconds(5))
            }
            self.init(questions: questions, looks: max(1, Int(half / .milliseconds(500))))
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
        var way = try await ask(in: environment)
        try await follow(&way)
        return way
    }

    /// Has Apple post one.
    /// - Throws: `AppStoreFailure`.
    package func ask(in environment: Environment?) async throws -> Way {
        let asked = now()
        let answered = try await client.ask(.testNotification, in: environment)
        var way = Way(askedAt: asked, token: answered.value.testNotificationToken, environment: answered.environment)
        way.clockAhead = answered.answeredAt.map { Self.difference(now(), $0) }
        return way
    }

    /// Follows one that Apple was asked for another time.
    package func follow(_ token: String, in environment: Environment?) async throws -> Way {
        var way = Way(token: token, environment: environment)
        try await follow(&way)
        return way
    }

    /// Follows one that Apple was asked for.
    /// - Throws: `AppStoreFailure`, or `PostgresError`; the way then says how far it came.
    package func follow(_ way: inout Way) async throws {
        for wait in patience.questions {
            if wait > .zero { try await Task.sleep(for: wait) }
            way.status = try await status(way)
            if way.status?.sendAttempts.isEmpty == false { break }
        }
        guard let canaries, let uuid = way.notificationUUID else { return }
        way.isLookedFor = true
        // What Apple could not deliver does not arrive by waiting: Sandbox posts once, Production again after an hour.
        let looks = way.result == nil || way.result == .success ? max(1, patience.looks) : 1
        for look in 1...looks {
            way.arrival = try await canaries.arrival(of: uuid)
            if way.arrival != nil { break }
            if look < looks { try await Task.sleep(for: patience.betweenLooks) }
        }
        if way.arrival == nil {
            way.waiting = try await canaries.waiting(uuid, since: way.askedAt.map(PostgresTimestamp.init))
            // What is neither here nor there may have been settled between the two looks.
            if way.waiting == .nowhere {
                way.arrival = try await canaries.arrival(of: uuid)
                if way.arrival != nil { way.waiting = nil }
            }
        }
        if way.arrival?.place == .dead { way.deadReason = try await canaries.deadReason(of: uuid) }
    }

    /// This machine's clock minus Apple's; the `Date` of an answer is cut to the second.
    package static func difference(_ here: Timestamp, _ there: Timestamp) -> Duration {
        .milliseconds(here.milliseconds(since: there) - 500)
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
