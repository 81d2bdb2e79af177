import AppStorePayloads
public import AppStoreVerification
public import Base

/// Asks the App Store Server API about one app. All that decides is in values without I/O: ``Exchange`` (what to ask next),
/// ``RateSchedule`` (when), ``ServerRequest`` (what an answer says).
public struct AppStoreClient: Sendable {
    /// Instants are Apple's: milliseconds.
    public typealias Instant = Timestamp

    /// An answer, and which environment gave it.
    public struct Answered<Value: Sendable>: Sendable {
        /// The answer, verified.
        public let value: Value
        /// The environment that gave it.
        public let environment: Environment
        /// When, by Apple's clock, to the second; nil where the answer does not say.
        public let answeredAt: Timestamp?
        /// How long the answer was, in bytes.
        let length: Int
    }

    /// The app.
    public var bundleId: String { caller.bundleId }

    private var caller: AppleCaller
    private let verifier: Verifier
    private let tokens: AccessTokens
    private let settleRevocation: (@Sendable () async -> Void)?

    /// - Parameters:
    ///   - verifier: trusts Apple's roots, and serves this app and the environments that are asked.
    ///   - budget: shared by all that ask about the same apps in this process.
    ///   - jitter: chance from 0 to 1.
    ///   - settleRevocation: asks the responders that the verifier wants to hear, where revocation is checked.
    public init(
        _ credentials: Credentials, hosts: AppStoreHosts = .apple, transport: any AppStoreTransport,
        clock: any AppStoreClock, verifier: Verifier, budget: RateBudget, policy: CallPolicy = CallPolicy(),
        observer: ClientObserver = ClientObserver(),
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0...1) },
        settleRevocation: (@Sendable () async -> Void)? = nil
    ) {
        caller = AppleCaller(
            bundleId: credentials.bundleId, hosts: hosts, transport: transport, clock: clock, budget: budget,
            policy: policy, observer: observer, jitter: jitter)
        self.verifier = verifier
        tokens = AccessTokens(credentials)
        self.settleRevocation = settleRevocation
    }

    /// The same client, with the same budget, that goes on asking for as long as this says.
    public func trying(_ policy: CallPolicy) -> AppStoreClient {
        var client = self
        client.caller.policy = policy
        return client
    }

    /// Makes one call to its end.
    ///
    /// - Parameters:
    ///   - environment: where to ask; where it is not known, Production and then Sandbox.
    ///   - priority: background work leaves room for people.
    ///   - notAfter: nothing is sent after this instant, by the client's clock; the call then fails as if Apple could not be reached.
    ///     A process that was suspended for long may not do what others have found undone, and do themselves.
    /// - Throws: ``AppStoreFailure``, or `CancellationError`.
    public func ask<Answer>(
        _ request: ServerRequest<Answer>, in environment: Environment? = nil,
        priority: RateSchedule.Priority = .interactive,
        notAfter: Timestamp? = nil
    ) async throws -> Answered<Answer> {
        var exchange = Exchange(
            request.endpoint, in: environment, policy: caller.policy, startingAt: caller.clock.now())
        let (place, body) = try await caller.run(&exchange, priority, tokens: tokens, notAfter: notAfter) {
            TransportRequest(
                method: request.endpoint.method, url: caller.hosts.url(request, in: $0), token: $1, body: request.body)
        }
        return Answered(
            value: try await read(request, body, place, exchange), environment: place, answeredAt: exchange.answeredAt,
            length: body.count)
    }

    /// The instant so long from now, by the client's clock.
    public func instant(after duration: Duration) -> Timestamp {
        caller.clock.now().adding(milliseconds: duration.milliseconds)
    }

    /// The pages of a list, asked for one by one.
    public func pages<Answer: AnswerPage>(
        _ request: ServerRequest<Answer>, in environment: Environment? = nil,
        priority: RateSchedule.Priority = .interactive
    ) -> Pages<Answer> {
        Pages(self, request, environment, priority)
    }

    /// Reads and verifies an answer; where a certificate's revocation is not known yet, once more after asking.
    private func read<Answer>(
        _ request: ServerRequest<Answer>, _ body: [UInt8], _ environment: Environment, _ exchange: Exchange
    ) async throws -> Answer {
        var (result, refused) = look(request, body, environment)
        // Another chain may have signed a part of it: that is asked about next.
        for _ in 0..<2 where refused.contains(where: { $0.failure.code == .revocationUnknown }) {
            guard let settleRevocation else { break }
            await settleRevocation()
            (result, refused) = look(request, body, environment)
        }
        return try caller.conclude(exchange, in: environment, result, refused: refused.map(\.failure))
    }

    private func look<Answer>(
        _ request: ServerRequest<Answer>, _ body: [UInt8], _ environment: Environment
    ) -> (Result<Answer, AnswerFault>, [RefusedRecord]) {
        do throws(AnswerFault) {
            var reader = try AnswerReader(
                body, verifier: verifier, bundleId: bundleId, environment: environment,
                mayBeEmpty: request.mayBeEmpty)
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
