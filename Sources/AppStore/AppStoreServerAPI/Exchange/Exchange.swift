import AppStorePayloads
public import Base

/// One call from its first request to its end: which request to make next, and what an answer means. A value without I/O.
///
///     ask ──answer──▶ ask (another environment) │ wait ──▶ ask │ done │ failed
///
/// Whoever drives it does what ``step`` says and reports what came of it; the clock and chance are handed in.
public struct Exchange: Sendable {
    /// What to do now.
    public enum Step: Sendable, Hashable {
        /// Send the request to this environment. Can transition to: any.
        case ask(Environment)
        /// Do nothing before this instant. Can transition to: ask.
        case wait(until: Timestamp)
        /// The end: an answer of status 2xx from this environment.
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
    /// When the last answer was given, by the clock of whoever gave it, to the second; nil where it does not say.
    public private(set) var answeredAt: Timestamp?

    private let endpoint: Endpoint
    private let policy: RetryPolicy
    private let deadline: Timestamp
    /// Where to ask, in this order.
    private var environments: [Environment]
    private var position = 0
    /// Failures that may pass, in a row.
    private var passing = 0
    /// How often every environment has said that it does not know the id.
    private var roundsInVain = 0

    /// - Parameters:
    ///   - environment: where to ask; where it is not known, Production first and then Sandbox, as Apple advises.
    ///   - start: when it begins; patience counts from here.
    public init(
        _ endpoint: Endpoint, in environment: Environment? = nil, policy: RetryPolicy = RetryPolicy(),
        startingAt start: Timestamp
    ) {
        self.endpoint = endpoint
        self.policy = policy
        deadline = start.adding(milliseconds: policy.patience.milliseconds)
        environments = environment.map { [$0] } ?? endpoint.environments
        step = .ask(environments[0])
        if let environment, !endpoint.environments.contains(environment) { fail(.notInThisEnvironment) }
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
        answeredAt = answer.date.flatMap { Timestamp(httpDate: $0) }
        if (200...299).contains(answer.status) {
            step = .done(environments[position], answer.body)
            return
        }
        let code = Self.errorCode(in: answer.body)
        if answer.status == 401 {
            isTokenRefused = true
            // The App Store refuses the tokens of apps that were never released; Sandbox knows them.
            if code == nil, environments[position] == .production, environments.count > 1 {
                environments.removeFirst()
                step = .ask(environments[position])
            } else {
                fail(code.map { .apple($0) } ?? .unauthorized)
            }
            return
        }
        if answer.status == 429 || code?.behaviour == .slowDown {
            slowDown(answer, at: now, jitter: jitter)
            return
        }
        switch code?.behaviour {
        case .elsewhereOrSoon: notFound(code, at: now)
        case .retry: retry(.apple(code ?? .generalInternal), after: answer.status, at: now, jitter: jitter)
        case .giveUp, .beginAgain, .slowDown: fail(.apple(code ?? .generalInternal))
        case nil:
            let reason = code.map { AppStoreFailure.Reason.apple($0) } ?? .status(answer.status)
            if answer.status >= 500 {
                retry(reason, after: answer.status, at: now, jitter: jitter)
            } else {
                fail(reason)
            }
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
            wait(policy.delay(after: passing + 1, jitter: jitter), or: .unreachable(fault), at: now)
        }
    }

    /// The budget's turn comes too late.
    public mutating func isBlocked(until instant: Timestamp) { fail(.rateLimited(until: instant)) }

    /// It may not be sent any more, and was not.
    mutating func isTooLate() { fail(.unreachable(.notConnected)) }

    /// Whether waiting until then is still within patience.
    public func isPatient(until instant: Timestamp) -> Bool { instant <= deadline }

    // MARK: -

    /// A 5xx without Apple's word that it may be repeated leaves open what was done.
    private mutating func retry(
        _ reason: AppStoreFailure.Reason, after status: Int, at now: Timestamp, jitter: Double
    ) {
        let isInvited: Bool
        if case .apple(let code) = reason {
            isInvited = code != .generalInternal && code.isKnown
        } else {
            isInvited = false
        }
        guard endpoint.isRepeatable || isInvited || status < 500 else {
            fail(.outcomeUnknown)
            return
        }
        wait(policy.delay(after: passing + 1, jitter: jitter), or: reason, at: now)
    }

    private mutating func wait(_ milliseconds: Int64, or reason: AppStoreFailure.Reason, at now: Timestamp) {
        passing += 1
        let instant = now.adding(milliseconds: milliseconds)
        guard passing < policy.maximumAttempts, isPatient(until: instant) else {
            fail(reason)
            return
        }
        step = .wait(until: instant)
    }

    /// In milliseconds.
    private static let longestBlock: Int64 = 3_600_000

    /// `Retry-After` is an instant in milliseconds since 1970, not a number of seconds as in RFC 9110; a proxy's number of seconds
    /// cannot be mistaken for one.
    private mutating func slowDown(_ answer: TransportAnswer, at now: Timestamp, jitter: Double) {
        let named = answer.retryAfter.flatMap { Int64($0) }.flatMap { number -> Timestamp? in
            if number < 0 { return nil }
            return number < 1_000_000_000
                ? now.adding(seconds: number) : Timestamp(millisecondsSince1970: number)
        }
        // An instant that is over, or none: the wait grows, for asking at once was what went wrong.
        passing += 1
        let usual = now.adding(milliseconds: policy.delay(after: passing, jitter: jitter))
        // Apple counts by the hour: who names a later instant than the hour's end is not understood.
        let latest = now.adding(milliseconds: Self.longestBlock)
        let instant = named.map { $0 > now ? min($0, latest) : usual } ?? usual
        blockedUntil = instant
        guard passing < policy.maximumAttempts, isPatient(until: instant) else {
            fail(.rateLimited(until: instant))
            return
        }
        step = .wait(until: instant)
    }

    private mutating func notFound(_ code: ServerErrorCode?, at now: Timestamp) {
        let code = code ?? .transactionIdNotFound
        if position + 1 < environments.count {
            position += 1
            step = .ask(environments[position])
            return
        }
        guard roundsInVain < policy.freshDelays.count else {
            fail(.apple(code))
            return
        }
        let instant = now.adding(milliseconds: policy.freshDelays[roundsInVain].milliseconds)
        guard isPatient(until: instant) else {
            fail(.apple(code))
            return
        }
        roundsInVain += 1
        position = 0
        step = .wait(until: instant)
    }

    private mutating func fail(_ reason: AppStoreFailure.Reason) {
        step = .failed(
            AppStoreFailure(
                reason: reason, endpoint: endpoint, environment: environments[position], attempts: attempts))
    }

    private static func errorCode(in body: [UInt8]) -> ServerErrorCode? {
        guard let document = try? JSONDocument(body), let code = document.object?.integer("errorCode") else {
            return nil
        }
        return ServerErrorCode(rawValue: code)
    }
}
