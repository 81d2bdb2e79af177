import AppStorePayloads
public import AppStoreVerification
public import Base

/// Asks the App Store Server API about one app. All that decides is in values without I/O: ``Exchange`` (what to ask next),
/// ``RateSchedule`` (when), ``ServerRequest`` (what an answer means).
public struct AppStoreClient: Sendable {
    /// Instants are Apple's: milliseconds.
    public typealias Instant = Timestamp

    /// An answer, and who gave it.
    public struct Answered<Value: Sendable>: Sendable {
        /// The answer, verified.
        public let value: Value
        /// The environment that gave it.
        public let environment: Environment
        /// When, by the clock of whoever answered, to the second; nil where the answer does not say.
        public let answeredAt: Timestamp?
    }

    /// The app.
    public let bundleId: String

    private let hosts: AppStoreHosts
    private let transport: any AppStoreTransport
    private let clock: any AppStoreClock
    private let verifier: Verifier
    private let budget: RateBudget
    private var policy: RetryPolicy
    private let observer: ClientObserver
    private let tokens: AccessTokens
    private let jitter: @Sendable () -> Double
    private let settleRevocation: (@Sendable () async -> Void)?

    /// - Parameters:
    ///   - verifier: trusts Apple's roots, and serves this app and the environments that are asked.
    ///   - budget: shared by all who ask about the same apps in this process.
    ///   - jitter: chance from 0 to 1.
    ///   - settleRevocation: asks the responders that the verifier wants to hear, where revocation is checked.
    public init(
        _ credentials: Credentials, hosts: AppStoreHosts = .apple, transport: any AppStoreTransport,
        clock: any AppStoreClock, verifier: Verifier, budget: RateBudget, policy: RetryPolicy = RetryPolicy(),
        observer: ClientObserver = ClientObserver(),
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0...1) },
        settleRevocation: (@Sendable () async -> Void)? = nil
    ) {
        bundleId = credentials.bundleId
        self.hosts = hosts
        self.transport = transport
        self.clock = clock
        self.verifier = verifier
        self.budget = budget
        self.policy = policy
        self.observer = observer
        tokens = AccessTokens(credentials)
        self.jitter = jitter
        self.settleRevocation = settleRevocation
    }

    /// The same client, with the same budget, that goes on asking for as long as this says.
    public func trying(_ policy: RetryPolicy) -> AppStoreClient {
        var client = self
        client.policy = policy
        return client
    }

    /// Makes one call to its end.
    ///
    /// - Parameters:
    ///   - environment: where to ask; where it is not known, Production and then Sandbox.
    ///   - priority: background work leaves room for people.
    ///   - notAfter: nothing is sent after this instant, by the client's clock: whoever was suspended for long may not do what
    ///     others have found undone by then, and do themselves. The call fails then as where nobody is reached.
    /// - Throws: ``AppStoreFailure``, or `CancellationError`.
    public func ask<Request: ServerRequest>(
        _ request: Request, in environment: Environment? = nil, priority: RateSchedule.Priority = .interactive,
        notAfter: Timestamp? = nil
    ) async throws -> Answered<Request.Answer> {
        var exchange = Exchange(request.endpoint, in: environment, policy: policy, startingAt: clock.now())
        while true {
            switch exchange.step {
            case .ask(let place):
                guard try await waitForTurn(request.endpoint, place, priority, &exchange) else { continue }
                try await send(request, place, notAfter, &exchange)
            case .wait(let instant):
                try await clock.wait(until: instant)
                exchange.resume(at: clock.now())
            case .done(let place, let body):
                return Answered(
                    value: try await read(request, body, place, exchange), environment: place,
                    answeredAt: exchange.answeredAt)
            case .failed(let failure):
                observer.ended(request.endpoint, failure.environment, failure.code)
                throw failure
            }
        }
    }

    /// The instant so long from now, by the client's clock.
    public func instant(after duration: Duration) -> Timestamp {
        clock.now().adding(milliseconds: duration.milliseconds)
    }

    /// The pages of a list, asked for one by one.
    public func pages<Request: PagedRequest>(
        _ request: Request, in environment: Environment? = nil, priority: RateSchedule.Priority = .interactive
    ) -> Pages<Request> {
        Pages(self, request, environment, priority)
    }

    /// Waits until the budget allows a request; false where the exchange has ended instead.
    private func waitForTurn(
        _ endpoint: Endpoint, _ environment: Environment, _ priority: RateSchedule.Priority, _ exchange: inout Exchange
    ) async throws -> Bool {
        let key = RateSchedule.Key(bundleId: bundleId, environment: environment, endpoint: endpoint)
        while true {
            let turn = budget.takeTurn(key, priority, at: clock.now())
            guard turn > clock.now() else { return true }
            // Background work holds a lease, which ends: it comes back instead when there are turns again.
            if !exchange.isPatient(until: turn) {
                exchange.isBlocked(until: turn)
                return false
            }
            try await clock.wait(until: turn)
            // Somebody was told meanwhile to slow down: that holds for all.
            if budget.isBlocked(key, at: clock.now()) == nil { return true }
        }
    }

    private func send(
        _ request: some ServerRequest, _ environment: Environment, _ notAfter: Timestamp?,
        _ exchange: inout Exchange
    ) async throws {
        let token: AccessToken
        do {
            token = try await tokens.token(at: clock.now())
        } catch {
            // The library's own words are not shown: they are about the key.
            throw AppStoreFailure(
                reason: .unusableKey, endpoint: request.endpoint, environment: environment,
                attempts: exchange.attempts)
        }
        if let notAfter, clock.now() > notAfter {
            exchange.isTooLate()
            return
        }
        do {
            let answer = try await transport.send(
                TransportRequest(
                    method: request.endpoint.method, url: hosts.url(request, in: environment), token: token,
                    body: request.body))
            exchange.received(answer, at: clock.now(), jitter: jitter())
        } catch let fault as TransportFault {
            exchange.failed(fault, at: clock.now(), jitter: jitter())
        }
        if exchange.isTokenRefused { await tokens.discard(token) }
        if case .wait = exchange.step, let instant = exchange.blockedUntil {
            block(request.endpoint, environment, until: instant)
        } else if case .failed(let failure) = exchange.step, case .rateLimited(let instant) = failure.reason {
            block(request.endpoint, environment, until: instant)
        }
    }

    private func block(_ endpoint: Endpoint, _ environment: Environment, until instant: Timestamp) {
        budget.block(
            RateSchedule.Key(bundleId: bundleId, environment: environment, endpoint: endpoint), until: instant)
    }

    /// Reads and verifies an answer; where a certificate's revocation is not known yet, once more after asking.
    private func read<Request: ServerRequest>(
        _ request: Request, _ body: [UInt8], _ environment: Environment, _ exchange: Exchange
    ) async throws -> Request.Answer {
        var (result, refused) = look(request, body, environment)
        // Another chain may have signed a part of it: that wants a look of its own.
        for _ in 0..<2 where refused.contains(where: { $0.failure.code == .revocationUnknown }) {
            guard let settleRevocation else { break }
            await settleRevocation()
            (result, refused) = look(request, body, environment)
        }
        for record in refused { observer.refused(record.failure.code) }
        switch result {
        case .success(let answer):
            observer.ended(request.endpoint, environment, nil)
            return answer
        case .failure(let fault):
            let failure = AppStoreFailure(
                reason: fault.reason, endpoint: request.endpoint, environment: environment, attempts: exchange.attempts)
            observer.ended(request.endpoint, environment, failure.code)
            throw failure
        }
    }

    private func look<Request: ServerRequest>(
        _ request: Request, _ body: [UInt8], _ environment: Environment
    ) -> (Result<Request.Answer, AnswerFault>, [RefusedRecord]) {
        do throws(AnswerFault) {
            var reader = try AnswerReader(
                body, verifier: verifier, bundleId: bundleId, environment: environment,
                mayBeEmpty: Request.Answer.self == Accepted.self)
            do throws(AnswerFault) {
                return (.success(try request.answer(&reader)), reader.refused)
            } catch {
                return (.failure(error), reader.refused)
            }
        } catch {
            return (.failure(error), [])
        }
    }
}
