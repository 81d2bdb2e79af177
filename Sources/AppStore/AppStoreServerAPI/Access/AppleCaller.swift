import AppStorePayloads
import AppStoreVerification
import Base

/// Makes calls about one app, as ``Exchange`` says: waits for their turns, sends them, and reports how each ended. Both clients stand
/// on it: of the Server API, and of verifyReceipt.
struct AppleCaller: Sendable {
    let bundleId: String
    let hosts: AppStoreHosts
    let transport: any AppStoreTransport
    let clock: any AppStoreClock
    /// Shared by all that ask about the same apps in this process.
    let budget: RateBudget
    var policy: CallPolicy
    let observer: ClientObserver
    /// Chance from 0 to 1.
    let jitter: @Sendable () -> Double

    /// Performs one call, with its retries.
    ///
    /// - Parameters:
    ///   - request: what is sent to an environment.
    ///   - tokens: makes the tokens; nil where the call needs none.
    ///   - notAfter: nothing is sent after this instant.
    /// - Returns: the answer's body, and which environment gave it.
    /// - Throws: ``AppStoreFailure``, or `CancellationError`.
    func run(
        _ exchange: inout Exchange, _ priority: RateSchedule.Priority, tokens: AccessTokens? = nil,
        notAfter: Timestamp? = nil, _ request: (Environment, AccessToken?) -> TransportRequest
    ) async throws -> (environment: Environment, body: [UInt8]) {
        while true {
            switch exchange.step {
            case .ask(let place):
                guard try await waitForTurn(place, priority, &exchange) else { continue }
                try await send(request, place, tokens, notAfter, &exchange)
            case .wait(let instant):
                try await clock.wait(until: instant)
                exchange.resume(at: clock.now())
            case .done(let place, let body): return (place, body)
            case .failed(let failure):
                observer.ended(failure.endpoint, failure.environment, failure.code)
                throw failure
            }
        }
    }

    /// Reports what was read in a call's answer.
    ///
    /// - Parameter refused: the records in it that were kept back.
    /// - Throws: ``AppStoreFailure`` where it cannot be passed on.
    func conclude<Answer>(
        _ exchange: Exchange, in environment: Environment, _ result: Result<Answer, AnswerFault>,
        refused: [VerificationFailure]
    ) throws -> Answer {
        for failure in refused { observer.refused(failure.code) }
        switch result {
        case .success(let answer):
            observer.ended(exchange.endpoint, environment, nil)
            return answer
        case .failure(let fault):
            let failure = exchange.failure(fault.reason, in: environment)
            observer.ended(exchange.endpoint, environment, failure.code)
            throw failure
        }
    }

    /// Waits until the budget allows a request; false where the exchange has ended instead.
    private func waitForTurn(
        _ environment: Environment, _ priority: RateSchedule.Priority, _ exchange: inout Exchange
    ) async throws -> Bool {
        let key = key(exchange, environment)
        while true {
            let turn = budget.takeTurn(key, priority, at: clock.now())
            guard turn > clock.now() else { return true }
            // Background work holds a lease, which ends: it comes back instead when there are turns again.
            if !exchange.isPatient(until: turn) {
                exchange.isBlocked(until: turn)
                return false
            }
            try await clock.wait(until: turn)
            // Another call may have been answered meanwhile that there are too many: that holds for all.
            if budget.isBlocked(key, at: clock.now()) == nil { return true }
        }
    }

    private func send(
        _ request: (Environment, AccessToken?) -> TransportRequest, _ environment: Environment, _ tokens: AccessTokens?,
        _ notAfter: Timestamp?, _ exchange: inout Exchange
    ) async throws {
        let token: AccessToken?
        do {
            token = try await tokens?.token(at: clock.now())
        } catch {
            // The library's own words are not shown: they are about the key.
            throw exchange.failure(.unusableKey, in: environment)
        }
        if let notAfter, clock.now() > notAfter {
            exchange.isTooLate()
            return
        }
        do {
            let answer = try await transport.send(request(environment, token))
            exchange.received(answer, at: clock.now(), jitter: jitter())
        } catch let fault as TransportFault {
            exchange.failed(fault, at: clock.now(), jitter: jitter())
        }
        if exchange.isTokenRefused, let token { await tokens?.discard(token) }
        if case .wait = exchange.step, let instant = exchange.blockedUntil {
            budget.block(key(exchange, environment), until: instant)
        } else if case .failed(let failure) = exchange.step, case .rateLimited(let instant) = failure.reason {
            budget.block(key(exchange, environment), until: instant)
        }
    }

    private func key(_ exchange: Exchange, _ environment: Environment) -> RateSchedule.Key {
        RateSchedule.Key(bundleId: bundleId, environment: environment, endpoint: exchange.endpoint)
    }
}

extension AnswerFault {
    var reason: AppStoreFailure.Reason {
        switch self {
        case .refused(let failure): .refused(failure)
        case .unreadable(let why): .unreadable(why)
        }
    }
}
