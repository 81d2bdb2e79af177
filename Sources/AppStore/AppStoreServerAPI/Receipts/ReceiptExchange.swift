import AppStorePayloads
import Base

/// One question to verifyReceipt from its first request to its end, as ``Exchange`` is for the Server API: which request to make next,
/// and what an answer means. A value without I/O.
///
///     ask ──answer──▶ ask (the other environment, once) │ wait ──▶ ask │ done │ failed
struct ReceiptExchange: Sendable {
    /// What to do now.
    enum Step: Sendable, Hashable {
        /// Send the request to this environment. Can transition to: any.
        case ask(Environment)
        /// Do nothing before this instant. Can transition to: ask.
        case wait(until: Timestamp)
        /// The end: this environment vouches for the receipt, in this answer.
        case done(Environment, [UInt8])
        /// The end: it does not, for this reason.
        case failed(AppStoreFailure)
    }

    /// What to do now.
    private(set) var step: Step
    /// How many requests were sent.
    private(set) var attempts = 0

    private let policy: RetryPolicy
    private let deadline: Timestamp
    private let environments: Set<Environment>
    private var environment: Environment
    private var wasSentOn = false
    private var passing = 0

    /// - Parameters:
    ///   - environments: where may be asked: Production first, as Apple advises, also for an app that is still in review.
    ///   - start: when it begins; patience counts from here.
    init(in environments: Set<Environment>, policy: RetryPolicy = RetryPolicy(), startingAt start: Timestamp) {
        self.environments = environments
        self.policy = policy
        deadline = start.adding(milliseconds: policy.patience.milliseconds)
        environment = environments.contains(.production) ? .production : .sandbox
        step = .ask(environment)
        if environments.isDisjoint(with: [.production, .sandbox]) { fail(.notInThisEnvironment) }
    }

    /// The wait is over.
    mutating func resume(at now: Timestamp) {
        guard case .wait(let until) = step, now >= until else { return }
        step = .ask(environment)
    }

    /// An answer came.
    ///
    /// - Parameter jitter: 0 to 1, by chance.
    mutating func received(_ answer: TransportAnswer, at now: Timestamp, jitter: Double) {
        attempts += 1
        guard (200...299).contains(answer.status) else {
            let isPassing = answer.status >= 500 || answer.status == 429
            wait(.status(answer.status), isPassing, at: now, jitter: jitter)
            return
        }
        guard let object = try? JSONDocument(answer.body).object, let number = object.lenientInteger("status") else {
            fail(.unreadable("status is missing"))
            return
        }
        let status = ReceiptStatus(rawValue: number)
        switch status.behaviour {
        case .accept: step = .done(environment, answer.body)
        case .ask(let other):
            // Two that send to each other would do so for ever.
            guard !wasSentOn, other != environment, environments.contains(other) else {
                fail(.receipt(status, mayPass: false))
                return
            }
            wasSentOn = true
            environment = other
            step = .ask(other)
        case .giveUp, .retry:
            // Documented with a hyphen, and sent with an underscore as well.
            let word = object.lenientFlag("is-retryable") ?? object.lenientFlag("is_retryable")
            let mayPass = word ?? (status.behaviour == .retry)
            wait(.receipt(status, mayPass: mayPass), mayPass, at: now, jitter: jitter)
        }
    }

    /// No answer came. Asking twice does no more than asking once.
    mutating func failed(_ fault: TransportFault, at now: Timestamp, jitter: Double) {
        attempts += 1
        wait(.unreachable(fault), fault != .tooLong, at: now, jitter: jitter)
    }

    /// The budget's turn comes too late.
    mutating func isBlocked(until instant: Timestamp) { fail(.rateLimited(until: instant)) }

    /// Whether waiting until then is still within patience.
    func isPatient(until instant: Timestamp) -> Bool { instant <= deadline }

    private mutating func wait(
        _ reason: AppStoreFailure.Reason, _ isPassing: Bool, at now: Timestamp, jitter: Double
    ) {
        passing += 1
        let instant = now.adding(milliseconds: policy.delay(after: passing, jitter: jitter))
        guard isPassing, passing < policy.maximumAttempts, isPatient(until: instant) else {
            fail(reason)
            return
        }
        step = .wait(until: instant)
    }

    private mutating func fail(_ reason: AppStoreFailure.Reason) {
        step = .failed(
            AppStoreFailure(reason: reason, endpoint: .verifyReceipt, environment: environment, attempts: attempts))
    }
}
