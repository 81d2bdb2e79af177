import AccountAPI
import AccountStore
import Accounts
import AppStorePayloads
import AppStoreVerification
import Base
import HTTPTypes
import Pipeline
import Synchronization
import TestSupport

@testable import APIKit

/// The handlers of the account API and of the guard, as `storehook serve` puts them together, under a clock that stands
/// where a test sets it.
final class LifeHandlers: Sendable {
    private let now = Mutex(Timestamp(millisecondsSince1970: 0))
    private let origin = ContinuousClock.now
    private let endpoints: Mutex<[String: AccountEndpoint]> = Mutex([:])

    init(_ database: AccountDatabase) {
        let (pool, pipeline) = (database.pool, database.pipeline)
        let watch = DatabaseWatch(logger: quiet) {}
        let reads = AccountReads(database.store, connections: 8, watch: watch) { self.now.withLock { $0 } }
        let memory = GuardMemory(
            logger: quiet, clock: { self.monotonic }, reading: AccountEnvironmentReads(reads, sandbox: .testers([])),
            counting: CounterReads(Usage(pool), connections: 8, watch: watch))
        let verifier = Verifier(
            configuration: VerifierConfiguration(apps: [:]), clock: { self.now.withLock { $0 } })
        let handlers = AccountHandlers(
            pipeline: pipeline, reads: reads,
            intake: EvidenceIntake(pool: pool, verifier: verifier, pipeline: pipeline, logger: quiet),
            usage: Usage(pool), rule: .keep, sandbox: .testers([]))
        let all = handlers.endpoints + [Guard(memory).endpoint]
        endpoints.withLock { known in
            for endpoint in all where endpoint.method == .get { known[endpoint.path] = endpoint }
        }
    }

    /// The same clock as the guard's, which measures how old what it knows is.
    private var monotonic: ContinuousClock.Instant {
        origin + .milliseconds(now.withLock { $0 }.millisecondsSince1970)
    }

    /// Sets the clock. What the guard knows of an account it knows from before: the clock goes forward.
    func set(_ instant: Timestamp) { now.withLock { $0 = instant } }

    /// What the handler of a path answers an account.
    func get(_ path: String, of account: String) async throws -> APIAnswer {
        guard let endpoint = endpoints.withLock({ $0[path] }) else { throw NeverHappened("a handler of \(path)") }
        let request = AccountRequest(
            id: "test", route: "GET \(path)", caller: .app(Caller(AccountIdentity(named: account), isServer: false)),
            body: nil, path: [:],
            query: [:],
            headers: [:], sender: nil)
        return try await endpoint.answer(request)
    }

    /// The members of what it answers.
    func object(_ path: String, of account: String) async throws -> JSONObject {
        guard let body = try await get(path, of: account).body, let object = try JSONDocument(body).object else {
            throw NeverHappened("an object of \(path)")
        }
        return object
    }

    /// The headers with which the guard lets an account pass; nil where it does not.
    func passed(_ account: String) async throws -> HTTPFields? {
        do {
            return try await get("/v1/guard", of: account).headers
        } catch let problem as APIProblem where problem.code.status == .forbidden {
            return nil
        }
    }
}
