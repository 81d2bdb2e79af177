import AppStorePayloads
import AppStoreVerification
public import Base

/// Asks verifyReceipt about receipts of one app. What decides is ``Exchange``, as for the Server API. There is no token: the app's
/// shared secret stands in the body, and nowhere else.
public struct ReceiptClient: Sendable {
    /// The app.
    public var bundleId: String { caller.bundleId }

    private let caller: AppleCaller
    private let secret: SharedSecret
    private let environments: Set<Environment>

    /// - Parameters:
    ///   - environments: those served. Production is asked first where it is among them.
    ///   - budget: shared by all that ask about the same apps in this process.
    ///   - jitter: chance from 0 to 1.
    public init(
        bundleId: String, secret: SharedSecret, in environments: Set<Environment>, hosts: AppStoreHosts = .apple,
        transport: any AppStoreTransport, clock: any AppStoreClock, budget: RateBudget,
        policy: CallPolicy = CallPolicy(), observer: ClientObserver = ClientObserver(),
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }
    ) {
        caller = AppleCaller(
            bundleId: bundleId, hosts: hosts, transport: transport, clock: clock, budget: budget, policy: policy,
            observer: observer, jitter: jitter)
        self.secret = secret
        self.environments = environments
    }

    /// Asks whether a receipt is genuine, and for the present state of its purchases.
    ///
    /// - Parameters:
    ///   - receipt: in base64.
    ///   - excludesOldTransactions: of each subscription only the latest period, where its history is known already.
    /// - Returns: an answer with status 0 about this app; it proves that the holder of the receipt holds what it lists.
    /// - Throws: ``AppStoreFailure``, or `CancellationError`.
    public func ask(
        _ receipt: [UInt8], excludesOldTransactions: Bool = false,
        priority: RateSchedule.Priority = .interactive
    ) async throws -> ReceiptAnswer {
        let body = RequestBody.verifyReceipt(receipt, secret, excludesOldTransactions: excludesOldTransactions).bytes
        let askedAt = caller.clock.now()
        var exchange = Exchange(receiptsOf: environments, policy: caller.policy, startingAt: askedAt)
        let (place, json) = try await caller.run(&exchange, priority) { environment, _ in
            TransportRequest(
                method: AppleEndpoint.verifyReceipt.method, url: caller.hosts.receiptURL(in: environment), token: nil,
                body: body)
        }
        let result = Result { () throws(AnswerFault) in try read(json, place, askedAt) }
        var refused: [VerificationFailure] = []
        if case .failure(.refused(let failure)) = result { refused = [failure] }
        return try caller.conclude(exchange, in: place, result, refused: refused)
    }

    /// A genuine receipt of another app proves nothing about this one: Apple checks the secret of subscriptions alone.
    private func read(
        _ json: [UInt8], _ environment: Environment, _ askedAt: Timestamp
    ) throws(AnswerFault) -> ReceiptAnswer {
        let answer = try ReceiptAnswer(json, from: environment, askedAt: askedAt)
        guard answer.bundleId == bundleId else {
            throw .refused(VerificationFailure(.wrongBundle, "The receipt is genuine, and another app's."))
        }
        return answer
    }
}
