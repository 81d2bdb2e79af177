import AppStorePayloads
import AppStoreVerification
public import Base

/// Asks verifyReceipt about receipts of one app. What decides is ``ReceiptExchange``; the transport is the Server API's, without a
/// token: the app's shared secret stands in the body, and nowhere else.
public struct ReceiptClient: Sendable {
    /// The app.
    public let bundleId: String

    private let secret: SharedSecret
    private let environments: Set<Environment>
    private let hosts: AppStoreHosts
    private let transport: any AppStoreTransport
    private let clock: any AppStoreClock
    private let budget: RateBudget
    private let policy: RetryPolicy
    private let observer: ClientObserver
    private let jitter: @Sendable () -> Double

    /// - Parameters:
    ///   - environments: those served. Production is asked first where it is among them.
    ///   - budget: shared by all who ask about the same apps in this process.
    ///   - jitter: chance from 0 to 1.
    public init(
        bundleId: String, secret: SharedSecret, in environments: Set<Environment>, hosts: AppStoreHosts = .apple,
        transport: any AppStoreTransport, clock: any AppStoreClock, budget: RateBudget,
        policy: RetryPolicy = RetryPolicy(), observer: ClientObserver = ClientObserver(),
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }
    ) {
        self.bundleId = bundleId
        self.secret = secret
        self.environments = environments
        self.hosts = hosts
        self.transport = transport
        self.clock = clock
        self.budget = budget
        self.policy = policy
        self.observer = observer
        self.jitter = jitter
    }

    /// Asks whether a receipt is genuine, and what became of what was bought with it.
    ///
    /// - Parameters:
    ///   - receipt: in base64.
    ///   - excludesOldTransactions: of each subscription only the latest period, where its history is known already.
    /// - Returns: an answer with status 0 about this app; it is proof that whoever has the receipt holds what it lists.
    /// - Throws: ``AppStoreFailure``, or `CancellationError`.
    public func ask(
        _ receipt: [UInt8], excludesOldTransactions: Bool = false,
        priority: RateSchedule.Priority = .interactive
    ) async throws -> ReceiptAnswer {
        var body = RequestBody()
        body.add("receipt-data", String(decoding: receipt, as: UTF8.self))
        body.add("password", secret.text)
        body.add("exclude-old-transactions", excludesOldTransactions)
        let bytes = body.bytes
        var exchange = ReceiptExchange(in: environments, policy: policy, startingAt: clock.now())
        while true {
            switch exchange.step {
            case .ask(let place):
                guard try await waitForTurn(place, priority, &exchange) else { continue }
                do {
                    let answer = try await transport.send(
                        TransportRequest(
                            method: .post, url: hosts.receiptURL(in: place), token: nil, body: bytes))
                    exchange.received(answer, at: clock.now(), jitter: jitter())
                } catch let fault as TransportFault {
                    exchange.failed(fault, at: clock.now(), jitter: jitter())
                }
            case .wait(let instant):
                try await clock.wait(until: instant)
                exchange.resume(at: clock.now())
            case .done(let place, let body):
                do throws(AnswerFault) {
                    let answer = try read(body, place)
                    observer.ended(.verifyReceipt, place, nil)
                    return answer
                } catch {
                    throw ended(
                        AppStoreFailure(
                            reason: error.reason, endpoint: .verifyReceipt, environment: place,
                            attempts: exchange.attempts))
                }
            case .failed(let failure): throw ended(failure)
            }
        }
    }

    private func ended(_ failure: AppStoreFailure) -> AppStoreFailure {
        observer.ended(.verifyReceipt, failure.environment, failure.code)
        return failure
    }

    /// A genuine receipt of another app proves nothing about this one: Apple checks the secret of subscriptions alone.
    private func read(_ body: [UInt8], _ environment: Environment) throws(AnswerFault) -> ReceiptAnswer {
        let answer = try ReceiptAnswer(body, from: environment)
        guard answer.bundleId == bundleId else {
            let failure = VerificationFailure(.wrongBundle, "The receipt is genuine, and another app's.")
            observer.refused(failure.code)
            throw .refused(failure)
        }
        return answer
    }

    private func waitForTurn(
        _ environment: Environment, _ priority: RateSchedule.Priority, _ exchange: inout ReceiptExchange
    ) async throws -> Bool {
        let key = RateSchedule.Key(bundleId: bundleId, environment: environment, endpoint: .verifyReceipt)
        let turn = budget.takeTurn(key, priority, at: clock.now())
        guard turn > clock.now() else { return true }
        guard exchange.isPatient(until: turn) else {
            exchange.isBlocked(until: turn)
            return false
        }
        try await clock.wait(until: turn)
        return true
    }
}
