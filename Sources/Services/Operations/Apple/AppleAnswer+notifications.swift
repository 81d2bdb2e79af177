import AppStorePayloads
package import AppStoreServerAPI
import AppStoreVerification
import AppleRecords
package import Base
package import Pipeline
import Postgres
import PurchaseStore

extension AppleAnswer {
    /// Apple's list of notifications.
    /// - Parameter isCut: whether there are more than those.
    package init(
        notifications: [ListedNotification], refused: [RefusedRecord], isCut: Bool, from environment: Environment
    ) {
        var table = Table(["SIGNED", "NOTIFICATION", "TYPE", "PURCHASE", "ATTEMPTS", "LAST RESULT"], numeric: [4])
        for one in notifications {
            let payload = one.record.payload.payload
            table.add([
                "\(payload.signedDate)", "\(payload.notificationUUID)", Self.type(payload),
                one.record.payload.transaction?.originalTransactionId ?? "-", "\(one.sendAttempts.count)",
                one.sendAttempts.last?.sendAttemptResult?.rawValue ?? "-",
            ])
        }
        let more = isCut ? "\nthere are more: ask with a later --since, or a higher --limit" : ""
        self.init(
            environment,
            [
                .init("notifications", .array(notifications.map(Self.value))),
                .init("has_more", .bool(isCut)),
            ], refused: refused,
            text: (notifications.isEmpty ? "no notifications" : table.text) + more + "\n\(environment)")
    }

    /// What became of a test notification.
    package init(test way: TestNotificationTrial.Way) {
        let (token, environment) = (way.token, way.environment ?? .production)
        let verdict = ConnectionVerdict(way)
        guard let test = way.status else {
            self.init(
                environment,
                [
                    .init("test_notification_token", .text(token)), .init("send_attempts", []),
                    .init("broken_link", .text(verdict.link?.rawValue)), .init("verdict", .string(verdict.sentence)),
                ], isFault: verdict.isFault,
                text: "asked for; Apple has not posted it yet. Ask again: storehook apple test --token \(token)")
            return
        }
        let payload = test.record.payload.payload
        let storedAt = way.arrival?.storedAt.map(Timestamp.init)
        let appliedAt = way.arrival?.appliedAt.map(Timestamp.init)
        let attempts = test.sendAttempts.map { attempt in
            "\(attempt.attemptDate.map { "\($0)" } ?? "-")  \(attempt.sendAttemptResult?.rawValue ?? "-")"
        }
        self.init(
            environment,
            [
                .init("test_notification_token", .text(token)), .init("payload", .written(payload.json)),
                .init("asked_at", .time(way.askedAt)), .init("send_attempts", Self.attempts(test.sendAttempts)),
                .init("place", .text(way.arrival?.place.rawValue)), .init("stored_at", .time(storedAt)),
                .init("applied_at", .time(appliedAt)), .init("broken_link", .text(verdict.link?.rawValue)),
                .init("verdict", .string(verdict.sentence)),
            ], unknown: test.unknownFields, isFault: verdict.isFault,
            text: CommandAnswer.lines([
                ("notification", "\(payload.notificationUUID)"), ("signed", "\(payload.signedDate)"),
                ("environment", "\(environment)"), ("asked", way.askedAt.map { "\($0)" }),
                ("attempts", attempts.isEmpty ? "none yet" : attempts.joined(separator: "\n              ")),
                ("stored", storedAt.map { "\($0)" } ?? (way.isLookedFor ? "not yet" : nil)),
                ("applied", appliedAt.map { "\($0)" } ?? Self.whyNotApplied(way)),
                ("verdict", verdict.sentence),
                ("look", "storehook notification \(payload.notificationUUID)"),
            ]))
    }

    /// Why there is none: Apple was not asked for a test notification, or does not answer about it.
    package init(test failure: AppStoreFailure, now: Timestamp) {
        let verdict = ConnectionVerdict(
            failure, clockAhead: failure.answeredAt.map { TestNotificationTrial.difference(now, $0) })
        self.init(
            failure.environment,
            [
                .init("apple_code", .string(failure.code)), .init("broken_link", .text(verdict.link?.rawValue)),
                .init("verdict", .string(verdict.sentence)),
            ], isFault: true,
            text: CommandAnswer.lines([
                ("environment", "\(failure.environment)"), ("Apple", failure.code), ("verdict", verdict.sentence),
            ]))
    }

    private static func whyNotApplied(_ way: TestNotificationTrial.Way) -> String? {
        switch way.arrival?.place {
        case .dead: "no, it is a dead letter: storehook dead-letters list --type TEST"
        case .applied, .recovered, nil: way.isLookedFor ? "not yet" : nil
        }
    }

    private static func value(of one: ListedNotification) -> JSONValue {
        [
            "payload": .written(one.record.payload.payload.json),
            "transaction": .written(one.record.payload.transaction?.json),
            "renewal": .written(one.record.payload.renewal?.json), "send_attempts": attempts(one.sendAttempts),
        ]
    }

    private static func attempts(_ attempts: [SendAttempt]) -> JSONValue {
        .array(
            attempts.map { attempt in
                [
                    "attempted_at": .time(attempt.attemptDate),
                    "result": .text(attempt.sendAttemptResult?.rawValue),
                ]
            })
    }

    private static func type(_ payload: NotificationPayload) -> String {
        [payload.notificationType.rawValue, payload.subtype?.rawValue].compactMap(\.self).joined(separator: " ")
    }
}
