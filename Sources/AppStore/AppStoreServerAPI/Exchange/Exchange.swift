import AppStorePayloads
public import Base

/// One call to the Server API or to verifyReceipt, from its first request to its end: which request to make next, and
/// how the call ends. A value without I/O. ``AnswerMeaning`` reads a single answer.
///
///     ask ──answer──▶ ask (another environment) │ wait ──▶ ask │ done │ failed
///
/// ``AppleCaller`` performs ``step`` and reports the result; the clock and randomness are passed in.
public struct Exchange: Sendable {
    /// What to do now.
    public enum Step: Sendable, Hashable {
        /// Send the request to this environment. Can transition to: any.
        case ask(Environment)
        /// Do nothing before this instant. Can transition to: ask.
        case wait(until: Timestamp)
        /// The end: this environment gave the answer.
        case done(Environment, [UInt8])
        /// The end: there is no answer, for this reason.
        case failed(AppStoreFailure)
    }

    /// What to do now.
    public private(set) var step: Step
    /// Until when Apple wants no request of this kind, of anybody with this app; the budget has to know.
    public private(set) var blockedUntil: Timestamp?
    /// Whether the token was refused: the next one has to be new.
    public private(set) var isTokenRefused = false
    /// How many requests were sent.
    public private(set) var attempts = 0
    /// When the last answer was given, by Apple's clock, to the second; nil where the answer does not say.
    public private(set) var answeredAt: Timestamp?

    let endpoint: AppleEndpoint
    private let policy: CallPolicy
    private let deadline: Timestamp
    /// Where to ask, in this order.
    private var environments: [Environment]
    private var position = 0
    /// Failures that may pass, in a row.
    private var passing = 0
    /// How often all environments have answered that they do not know the id.
    private var roundsInVain = 0
    /// Whether one environment has named the other: each is believed once.
    private var wasSentOn = false

    /// A call of the Server API.
    ///
    /// - Parameters:
    ///   - environment: where to ask; where it is not known, Production first and then Sandbox, as Apple advises.
    ///   - start: when it begins; patience counts from here.
    public init(
        _ endpoint: AppleEndpoint, in environment: Environment? = nil, policy: CallPolicy = CallPolicy(),
        startingAt start: Timestamp
    ) {
        let named = environment.map { [$0] } ?? endpoint.environments
        self.init(
            endpoint, named.filter(endpoint.environments.contains), orFailIn: named[0], policy: policy,
            startingAt: start)
    }

    /// A question to verifyReceipt.
    ///
    /// - Parameters:
    ///   - served: where may be asked: Production first, as Apple advises, also for an app that is still in review.
    ///   - start: when it begins; patience counts from here.
    init(receiptsOf served: Set<Environment>, policy: CallPolicy = CallPolicy(), startingAt start: Timestamp) {
        let endpoint = AppleEndpoint.verifyReceipt
        self.init(
            endpoint, endpoint.environments.filter(served.contains), orFailIn: .sandbox, policy: policy,
            startingAt: start)
    }

    private init(
        _ endpoint: AppleEndpoint, _ environments: [Environment], orFailIn missing: Environment, policy: CallPolicy,
        startingAt start: Timestamp
    ) {
        self.endpoint = endpoint
        self.policy = policy
        deadline = start.adding(milliseconds: policy.patience.milliseconds)
        self.environments = environments.isEmpty ? [missing] : environments
        step = .ask(self.environments[0])
        if environments.isEmpty { fail(.notInThisEnvironment) }
    }

    /// The wait is over.
    public mutating func resume(at now: Timestamp) {
        guard case .wait(let until) = step, now >= until else { return }
        step = .ask(environments[position])
    }

    /// An answer came.
    ///
    /// - Parameter jitter: 0 to 1, by chance.
    public mutating func received(_ answer: TransportAnswer, at now: Timestamp, jitter: Double) {
        attempts += 1
        isTokenRefused = false
        answeredAt = answer.date.flatMap { Timestamp(httpDate: $0, now: now) }
        let meaning: AnswerMeaning =
            endpoint == .verifyReceipt ? .init(verifyReceipt: answer) : .init(serverAPI: answer)
        switch meaning {
        case .done: step = .done(environments[position], answer.body)
        case .failed(let reason): fail(reason)
        case .passing(_, isPerhapsDone: true) where !endpoint.isRepeatable: fail(.outcomeUnknown)
        case .passing(let reason, _): wait(or: reason, at: now, jitter: jitter)
        case .unknownID(let code): askElsewhereOrSoon(code, at: now)
        case .belongs(let other, let reason): goOn(to: other, or: reason)
        case .tooMany(let retryAfter): slowDown(retryAfter, at: now, jitter: jitter)
        case .tokenRefused(let code): refuseToken(code)
        }
    }

    /// No answer came.
    public mutating func failed(_ fault: TransportFault, at now: Timestamp, jitter: Double) {
        attempts += 1
        isTokenRefused = false
        if fault.isPerhapsHeard, !endpoint.isRepeatable {
            fail(.outcomeUnknown)
        } else if fault == .tooLong {
            fail(.unreachable(fault))
        } else {
            wait(or: .unreachable(fault), at: now, jitter: jitter)
        }
    }

    /// The budget's turn comes too late.
    public mutating func isBlocked(until instant: Timestamp) { fail(.rateLimited(until: instant)) }

    /// It may not be sent any more, and was not.
    mutating func isTooLate() { fail(.unreachable(.notConnected)) }

    /// Whether waiting until then is still within patience.
    public func isPatient(until instant: Timestamp) -> Bool { instant <= deadline }

    // MARK: -

    private mutating func wait(or reason: AppStoreFailure.Reason, at now: Timestamp, jitter: Double) {
        passing += 1
        let instant = now.adding(
            milliseconds: policy.retries.pause(afterFailures: passing, chance: jitter).milliseconds)
        guard !policy.retries.isSpent(afterFailures: passing), isPatient(until: instant) else {
            fail(reason)
            return
        }
        step = .wait(until: instant)
    }

    /// In milliseconds.
    private static let longestBlock: Int64 = 3_600_000
    /// From here on a number in `Retry-After` is an instant.
    private static let leastInstant: Int64 = 1_000_000_000

    /// Apple's `Retry-After` is an instant in milliseconds since 1970, not a number of seconds as in RFC 9110; a proxy's number of seconds
    /// cannot be mistaken for one.
    private mutating func slowDown(_ retryAfter: String?, at now: Timestamp, jitter: Double) {
        let named = RetryAfter(retryAfter, now: now).map { said -> Timestamp in
            switch said {
            case .number(let instant) where instant >= Self.leastInstant: Timestamp(millisecondsSince1970: instant)
            case .number, .date: now.adding(milliseconds: said.wait(from: now).milliseconds)
            }
        }
        // An instant that is over, or none: the wait grows, for asking at once was what went wrong.
        passing += 1
        let usual = now.adding(milliseconds: policy.retries.pause(afterFailures: passing, chance: jitter).milliseconds)
        // Apple counts by the hour: an instant later than the hour's end is not understood.
        let latest = now.adding(milliseconds: Self.longestBlock)
        let instant = named.map { $0 > now ? min($0, latest) : usual } ?? usual
        blockedUntil = instant
        guard !policy.retries.isSpent(afterFailures: passing), isPatient(until: instant) else {
            fail(.rateLimited(until: instant))
            return
        }
        step = .wait(until: instant)
    }

    /// Asks the next environment; where none knows the id all of them once more, for Apple learns of fresh transactions late.
    private mutating func askElsewhereOrSoon(_ code: ServerErrorCode, at now: Timestamp) {
        if position + 1 < environments.count {
            position += 1
            step = .ask(environments[position])
            return
        }
        roundsInVain += 1
        let instant = now.adding(milliseconds: policy.fresh.pause(afterFailures: roundsInVain).milliseconds)
        guard !policy.fresh.isSpent(afterFailures: roundsInVain), isPatient(until: instant) else {
            fail(.apple(code))
            return
        }
        position = 0
        step = .wait(until: instant)
    }

    /// Two environments that name each other would do so for ever.
    private mutating func goOn(to other: Environment, or reason: AppStoreFailure.Reason) {
        guard !wasSentOn, let place = environments.firstIndex(of: other), place != position else {
            fail(reason)
            return
        }
        wasSentOn = true
        position = place
        step = .ask(other)
    }

    /// The App Store refuses the tokens of apps that were never released; Sandbox knows them.
    private mutating func refuseToken(_ code: ServerErrorCode?) {
        isTokenRefused = true
        guard code == nil, environments[position] == .production, environments.count > 1 else {
            fail(code.map { .apple($0) } ?? .unauthorized)
            return
        }
        environments.removeFirst()
        step = .ask(environments[position])
    }

    private mutating func fail(_ reason: AppStoreFailure.Reason) {
        step = .failed(failure(reason, in: environments[position]))
    }

    /// The call's failure for this reason.
    func failure(_ reason: AppStoreFailure.Reason, in environment: Environment) -> AppStoreFailure {
        AppStoreFailure(
            reason: reason, endpoint: endpoint, environment: environment, attempts: attempts, answeredAt: answeredAt)
    }
}
