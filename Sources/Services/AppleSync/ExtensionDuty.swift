import AppStorePayloads
package import AppStoreServerAPI
package import AppleRecords
package import Base
package import EvidenceStore
import Foundation
package import Logging
import Pipeline
import Postgres

/// Follows extensions of renewal dates from any source: asks Apple for each once, finds out what Apple did where its
/// answer was lost, asks again where that was nothing, and waits for what Apple posts about it.
package struct ExtensionDuty: AppleDuty {
    /// How long is waited at each turn, by the database's clock.
    package struct Patience: Sendable, Hashable {
        /// How long after it was written down that Apple is being asked a request may leave: far shorter than it is found out
        /// what became of it.
        package var sending = Duration.seconds(120)
        /// For how long Apple is asked what it did, before it is believed that it did nothing: far longer than a request can be
        /// under way.
        package var findingOut = Duration.seconds(900)
        /// When Apple's status is asked where RENEWAL_EXTENDED has not come: Apple posts within seconds.
        package var status = Duration.seconds(900)
        /// When Apple's status is enough: reconciliation would have fetched a lost notification after two hours.
        package var notification = Duration.seconds(6 * 3600)
        /// For how long failures that Apple counts are waited for: its last attempt to post comes after 157 hours.
        /// (App Store Server Notifications, "Responding to App Store Server Notifications")
        package var failures = Duration.seconds(8 * 86_400)

        /// As it is meant.
        package init() {}
    }

    package static let name = "The extension of renewal dates"
    package static let interval = Duration.seconds(5)
    /// How often Apple is asked again where it was found out that it had done nothing.
    private static let repetitions: Int64 = 2

    /// A few questions to Apple with all their repetitions.
    package static let lease = Duration.seconds(180)
    package let logger: Logger
    private let extensions: RenewalExtensions
    private let history: History
    private let patience: Patience
    private let metrics: AppleSyncMetrics
    /// How soon Apple is asked, beside what else is asked.
    var priority = RateSchedule.Priority.background

    /// A duty.
    /// - Parameters:
    ///   - extensions: over a connection of its own, so that workers never wait for it.
    ///   - history: where what Apple signs in its answers is stored.
    package init(
        _ extensions: RenewalExtensions, _ history: History, patience: Patience = Patience(), logger: Logger,
        metrics: AppleSyncMetrics
    ) {
        self.extensions = extensions
        self.history = history
        self.patience = patience
        self.logger = logger
        self.metrics = metrics
    }

    package var queue: ScopedQueue { extensions.queue }

    package func claim(for lease: Lease, among scopes: [AppEnvironment]) async throws -> HeldExtension? {
        try await extensions.claim(for: lease, among: scopes)
    }

    /// Takes one a step on; it is then settled, or due again later.
    /// - Throws: whatever went wrong; it is then to be put off. What Apple did is then written down, or found out by the next step.
    package func take(_ held: HeldExtension, _ client: AppStoreClient) async throws -> Postponement? {
        try await take(
            Step(
                held: held, client: client, environment: Environment(rawValue: held.scope.environment),
                priority: priority))
        return nil
    }

    private func take(_ step: Step) async throws {
        let held = step.held
        switch (held.record.state, held.record.subject) {
        case (.requested, .one(let id)): try await askForOne(step, id)
        case (.requested, .all(let product, let storefronts)): try await askForAll(step, product, storefronts)
        case (.unknown, .one(let id)): try await findOut(step, id)
        case (.unknown, .all(let product, _)): try await findOutAboutAll(step, product)
        case (.accepted, .one(let id)): try await follow(step, id)
        case (.accepted, .all(let product, _)), (.completed, .all(let product, _)):
            try await followAll(step, product)
        case (.completed, .one), (.extended, _), (.refused, _), (.notExtended, _), (.closed, _):
            // The table does not hold the first, and the others are never queued.
            try await settle(step, held.record.state.isEnd ? held.record.state : .extended)
        }
    }

    /// What every step needs.
    private struct Step {
        let held: HeldExtension
        let client: AppStoreClient
        let environment: Environment
        let priority: RateSchedule.Priority
    }

    // MARK: - Asking

    private func askForOne(_ step: Step, _ id: String) async throws {
        let before: SubscriptionStanding?
        do {
            before = try await standing(step, id)
        } catch let failure as AppStoreFailure where failure.isRefusal {
            return try await refuse(step, failure)
        }
        let record = step.held.record
        let request = ServerRequest.extendRenewalDate(
            id, byDays: record.days, reason: ExtendReasonCode(rawValue: record.reasonCode),
            requestIdentifier: record.requestIdentifier)
        guard let answer = try await askOnce(step, before, request) else { return }
        guard answer.success else {
            return try await settle(
                step, .refused,
                refusal: .init(
                    code: "not_successful", message: "Apple says that it did not extend it, and not why: ask Apple"))
        }
        guard
            try await extensions.accepted(
                step.held, effective: answer.effectiveDate.map(PostgresTimestamp.init(apple:)))
        else { return }
        try await wait(step, .zero, "renewal_extended")
    }

    private func askForAll(_ step: Step, _ product: String, _ storefronts: [String]) async throws {
        let record = step.held.record
        guard let name = UniqueIdentifier(record.requestIdentifier) else {
            return try await settle(
                step, .refused,
                refusal: .init(code: "invalid_request_identifier", message: "its name for Apple has to be a UUID"))
        }
        let request = ServerRequest.massExtension(
            product, byDays: record.days, reason: ExtendReasonCode(rawValue: record.reasonCode),
            requestIdentifier: name, storefronts: storefronts)
        guard try await askOnce(step, nil, request) != nil else { return }
        guard try await extensions.accepted(step.held, effective: nil) else { return }
        try await wait(step, .zero, "renewal_extension")
    }

    /// Sends a request once: it is repeated only after finding out what Apple did.
    /// - Returns: nil where that is settled, or left to another step.
    private func askOnce<Answer>(
        _ step: Step, _ before: SubscriptionStanding?, _ request: ServerRequest<Answer>
    ) async throws -> Answer? {
        // Taken before it is recorded: a task suspended in between has less time left, not more.
        let deadline = step.client.instant(after: patience.sending)
        guard try await extensions.begin(step.held, before) else { return nil }
        do {
            return try await step.client.ask(
                request, in: step.environment, priority: step.priority, notAfter: deadline
            ).value
        } catch let failure as AppStoreFailure {
            if failure.isRefusal {
                try await refuse(step, failure)
            } else if failure.isUnheard {
                try await extensions.takeBack(step.held)
                throw failure
            } else {
                try await wait(step, .zero, failure.code)
            }
            return nil
        }
    }

    // MARK: - Finding out

    private func findOut(_ step: Step, _ id: String) async throws {
        if let notification = try await extensions.notification(about: step.held) {
            return try await settle(step, .extended, notification: notification)
        }
        guard let now = try await standing(step, id), let before = step.held.record.before,
            let end = try await end(of: before.period, id, step, now)
        else {
            // Apple did not say how it stood, and cannot be asked what has changed: its notification or a person will
            // settle it.
            return try await wait(step, step.held.sinceAsked ?? .zero, "outcome_unknown")
        }
        guard end >= Self.earliestEnd(step.held.record, before) else { return try await doubt(step) }
        guard try await extensions.accepted(step.held, effective: end) else { return }
        try await wait(step, .zero, "renewal_extended")
    }

    private func findOutAboutAll(_ step: Step, _ product: String) async throws {
        do {
            _ = try await progress(step, product)
        } catch let failure as AppStoreFailure where failure.reason == .apple(.statusRequestNotFound) {
            return try await doubt(step)
        }
        guard try await extensions.accepted(step.held, effective: nil) else { return }
        try await wait(step, .zero, "renewal_extension")
    }

    /// Apple shows no extension: perhaps not yet. After a while none can be under way any more: then Apple is asked
    /// again, as if it had not been asked.
    private func doubt(_ step: Step) async throws {
        let age = step.held.sinceAsked ?? .zero
        guard age > patience.findingOut else { return try await wait(step, age, "outcome_unknown") }
        guard step.held.record.askedAgain < Self.repetitions else { return try await settle(step, .notExtended) }
        guard try await extensions.askAgain(step.held) else { return }
        try await wait(step, .zero, "not_done")
    }

    /// The earliest period end that shows this extension, and not another by fewer days. Apple may count in days of 23
    /// hours.
    private static func earliestEnd(
        _ record: RenewalExtension, _ before: SubscriptionStanding
    ) -> PostgresTimestamp {
        before.renewsAt.adding(.seconds(record.days * 86_400 - 3600))
    }

    /// When a period ends, by Apple. Nothing but an extension has the same period end later.
    private func end(
        of period: String, _ id: String, _ step: Step, _ now: SubscriptionStanding
    ) async throws -> PostgresTimestamp? {
        if now.period == period { return now.renewsAt }
        // It renewed meanwhile.
        let answer = try await step.client.ask(
            .transactionInfo(
                period, of: id, lineItem: try await extensions.lineItem(of: period, step.held.record.scope)),
            in: step.environment, priority: step.priority)
        return answer.value.payload.expiresDate.map(PostgresTimestamp.init(apple:))
    }

    /// What Apple says of a subscription now; it is stored, so that the state follows whatever is lost. Nil where Apple knows the
    /// customer and not the subscription.
    private func standing(_ step: Step, _ id: String) async throws -> SubscriptionStanding? {
        let statuses = try await PurchaseRefresh(history, step.client, priority: step.priority)
            .statuses(of: id, in: step.environment)
        let line = statuses.groups.flatMap(\.lastTransactions).first {
            $0.transaction?.payload.originalTransactionId == id
        }
        guard let transaction = line?.transaction?.payload else { return nil }
        let renewal = line?.renewal?.payload
        guard let end = [transaction.expiresDate, renewal?.renewalDate].compactMap(\.self).max() else { return nil }
        return SubscriptionStanding(
            period: transaction.transactionId, renewsAt: PostgresTimestamp(apple: end),
            signedAt: PostgresTimestamp(
                apple: max(transaction.signedDate, renewal?.signedDate ?? transaction.signedDate)))
    }

    // MARK: - Following

    private func follow(_ step: Step, _ id: String) async throws {
        if let notification = try await extensions.notification(about: step.held) {
            return try await settle(step, .extended, notification: notification)
        }
        let age = step.held.sinceAccepted ?? .zero
        if step.held.record.confirmedAt != nil, age > patience.notification {
            return try await settle(step, .extended)
        }
        if step.held.record.confirmedAt == nil, age > patience.status,
            let now = try await standing(step, id), Self.shows(now, step.held.record)
        {
            guard try await extensions.confirmed(step.held) else { return }
        }
        try await wait(step, age, "renewal_extended")
    }

    /// Whether Apple's status has the new renewal date, or a later period.
    private static func shows(_ now: SubscriptionStanding, _ record: RenewalExtension) -> Bool {
        if let before = record.before, before.period != now.period { return true }
        return record.effectiveAt.map { now.renewsAt >= $0 } ?? false
    }

    private func followAll(_ step: Step, _ product: String) async throws {
        guard let heard = try await extensions.hear(step.held) else { return }
        var completedAt = step.held.record.completedAt
        var failed = step.held.record.failed
        if let summary = heard.summary {
            completedAt = completedAt ?? summary.signedAt
            failed = summary.failed ?? failed
            guard
                try await extensions.progressed(
                    step.held, succeeded: summary.succeeded, failed: summary.failed, completedAt: completedAt)
            else { return }
        } else if completedAt == nil {
            guard let answer = try await progress(step, product) else { return }
            completedAt = answer.completedAt
            failed = answer.failed
        }
        guard completedAt != nil else {
            return try await wait(step, step.held.sinceAccepted ?? .zero, "renewal_extension")
        }
        let isHeard = failed.map { heard.failures >= $0 } ?? false
        let age = step.held.sinceCompleted ?? .zero
        if isHeard && (heard.summary != nil || age > patience.notification) || age > patience.failures {
            return try await settle(step, .extended, notification: heard.summary?.notificationUUID)
        }
        try await wait(step, age, isHeard ? "summary" : "failures")
    }

    /// Asks how far Apple is with all of a product, and writes it down. Where Apple says that it is done and not when, it is done
    /// by its answer.
    /// - Returns: when it was done, and how many failed; nil if another process holds the extension.
    private func progress(
        _ step: Step, _ product: String
    ) async throws -> (completedAt: PostgresTimestamp?, failed: Int64?)? {
        guard let name = UniqueIdentifier(step.held.record.requestIdentifier) else { return nil }
        let answered = try await step.client.ask(
            .massExtensionStatus(product, requestIdentifier: name), in: step.environment,
            priority: step.priority)
        let answer = answered.value
        let date = answer.completeDate ?? answered.answeredAt ?? step.client.instant(after: .zero)
        let completedAt = answer.complete ? PostgresTimestamp(apple: date) : nil
        guard step.held.record.state != .unknown else { return (completedAt, answer.failedCount) }
        let isHeld = try await extensions.progressed(
            step.held, succeeded: answer.succeededCount, failed: answer.failedCount, completedAt: completedAt)
        guard isHeld else { return nil }
        return (completedAt, answer.failedCount)
    }

    // MARK: - Ends

    private func refuse(_ step: Step, _ failure: AppStoreFailure) async throws {
        try await settle(step, .refused, refusal: .init(code: failure.code, message: failure.message))
    }

    private func settle(
        _ step: Step, _ state: RenewalExtension.State, refusal: RenewalExtension.Refusal? = nil,
        notification: UUID? = nil
    ) async throws {
        guard try await extensions.settle(step.held, state, refusal: refusal, notification: notification) else {
            return
        }
        metrics.extended(step.held.record.subject.kind, state.rawValue)
    }

    /// Looks again later; that is how it goes, and no attempt. Often at first, while it can be seconds; then seldom.
    private func wait(_ step: Step, _ age: Duration, _ reason: String) async throws {
        try await queue.putOff(
            step.held.claim, by: max(.seconds(2), min(age / 4, .seconds(600))), reason: reason, isItsOwn: false)
    }
}

extension AppStoreFailure {
    /// Whether Apple has said that it does not do it.
    fileprivate var isRefusal: Bool {
        if case .apple = reason { !isTransient } else { false }
    }

    /// Whether Apple has certainly done nothing. An answer without an error code of Apple's, or one that cannot be
    /// read, leaves that open.
    fileprivate var isUnheard: Bool {
        switch reason {
        case .apple, .receipt, .unauthorized, .unusableKey, .rateLimited, .notInThisEnvironment, .unreachable: true
        case .status, .outcomeUnknown, .refused, .unreadable: false
        }
    }
}

extension PostgresTimestamp {
    fileprivate init(apple instant: Timestamp) { self.init(millisecondsSince1970: instant.millisecondsSince1970) }
}
