import AccountAPI
import AccountStore
import Accounts
import AppStorePayloads
import AppStoreVerification
import Base
import EventStore
import EvidenceStore
import Foundation
import HTTPKit
import Logging
import Pipeline
import Postgres
import PurchaseStore
import Simulation
import TestSupport
import Testing

@testable import APIKit

/// What an app's customers do in Apple's shop and what their devices hold, in front of an account API that sells three products.
struct Shop: Sendable {
    private static let authority = Task { try SimulatedAuthority.generate() }

    let api: RunningAPI
    let authority: SimulatedAuthority
    let accounts: AccountStore
    /// When everything is bought: a minute ago.
    let now: Milliseconds

    /// A purchase: its transaction and, of a subscription, its renewal info, signed.
    /// - Parameters:
    ///   - account: the id of the account that Apple signs, under the rule `auto`.
    ///   - token: its token, under any rule.
    ///   - ahead: how far Apple's clock is ahead of this machine's, for a purchase of now.
    func buy(
        _ product: SimulatedProduct = .basicMonthly, lane: Int, for account: String? = nil,
        by token: UniqueIdentifier? = nil, in environment: SimulatedApp.Environment = .production,
        app: SimulatedApp = .example, ahead: Milliseconds? = nil
    ) -> (transaction: String, renewal: String?, notification: UnsignedNotification) {
        var customer = SimulatedSubscriber(
            app: app.in(environment),
            appAccountToken: (token ?? account.map { AccountToken.of($0) })?.description,
            lane: lane, seed: UInt64(lane))
        customer.buy(product, at: now)
        let told = customer.takeNotifications()[0]
        var record = told.transaction
        if let ahead, let bought = record?.purchaseDate {
            let instant = wallClock().millisecondsSince1970 + ahead
            record?.purchaseDate = instant
            record?.originalPurchaseDate = instant
            record?.expiresDate? += instant - bought
            record?.signedDate = instant + 100
        }
        return (
            authority.sign(record?.json ?? []), told.renewal.map { authority.sign($0.json) }, told
        )
    }

    /// Posts as an account's app.
    func post(_ path: String, as account: String, _ body: String = "{}") async throws -> Answer {
        try await api.send("POST", path, token: try await api.signer.token(of: account), body: body)
    }

    /// Asks as an account's app.
    func get(_ path: String, as account: String) async throws -> Answer {
        try await api.get(path, token: try await api.signer.token(of: account))
    }

    /// Hands a transaction in for an account.
    func verify(_ transaction: String, as account: String, under root: String = "/v1/subscriptions") async throws
        -> Answer
    {
        try await post(root + "/verify", as: account, #"{"signedTransactionInfo":"\#(transaction)"}"#)
    }

    /// An account's tier and status, in words: `pro active`.
    func standing(of account: String) async throws -> String {
        let object = try await get("/v1/subscriptions/status", as: account).object
        return "\(object?.string("tier") ?? "-") \(object?.string("status") ?? "-")"
    }

    /// Opens the shop.
    /// - Parameters:
    ///   - own: signs for Apple, where that is another than the one of all tests.
    ///   - catalog: what it sells; three products by default.
    ///   - asking: the clients that ask Apple; none by default.
    ///   - proven: up to when answers hold all that Apple has posted.
    ///   - now: the present that accounts are read at; the database's clock by default.
    static func open<T: Sendable>(
        rule: RestoreRule = .keep, sandbox: SandboxAccess = .testers([]), proven: ProvenAnswers = .none,
        signedBy own: SimulatedAuthority? = nil,
        catalog: String = shopCatalog,
        asking apple: ShopsApple = ShopsApple(), mostNewReceipts: Int = 50, endpoints: [AccountEndpoint] = [],
        feed: ((PostgresPool, DatabaseWatch) -> EventFeed)? = nil,
        log: AccountLog = .none, logger: Logger = quiet, statementLimit: Duration = .seconds(4),
        now: @escaping @Sendable () -> Timestamp? = { nil }, onAsk: @escaping @Sendable () -> Void = {},
        url: (@Sendable (TestDatabase) async throws -> String)? = nil,
        isolation: isolated (any Actor)? = #isolation, _ body: (Shop) async throws -> T
    ) async throws -> T {
        let shared = try await Self.authority.value
        let authority = own ?? shared
        let configuration = VerifierConfiguration(
            apps: [SimulatedApp.example.bundleId: SimulatedApp.example.appAppleId],
            trustedRoots: Set([Fingerprint(authority.rootFingerprint)].compactMap(\.self)))
        return try await withAPI(
            url: url, endpoints: endpoints, sandbox: sandbox, proven: proven,
            desk: { pool, reads, memory in
                let verifier = Verifier(configuration: configuration, clock: wallClock)
                let pipeline = EvidencePipeline(pool)
                return AccountHandlers(
                    pipeline: pipeline, reads: reads,
                    intake: EvidenceIntake(pool: pool, verifier: verifier, pipeline: pipeline, logger: logger),
                    usage: Usage(pool), rule: rule, sandbox: sandbox, proven: proven,
                    receipts: apple.intake(verifier, pool),
                    refresh: apple.refresh(pool), log: log, mostNewReceipts: mostNewReceipts,
                    onChange: { memory.change($0) })
            }, feed: feed,
            adjusting: {
                $0.callerRate = .init(perMinute: 1_000_000, burst: 1_000_000)
                $0.addressRate = .init(perMinute: 1_000_000, burst: 1_000_000)
                // For tests that hold requests back, on a machine that has much to do.
                $0.http.requestDeadline = .seconds(60)
            }, logger: logger, statementLimit: statementLimit, now: now, onAsk: onAsk
        ) { api in
            let pipeline = EvidencePipeline(api.observer)
            let accounts = pipeline.accounts
            _ = try await accounts.apply(catalog, by: "test")
            return try await body(
                Shop(
                    api: api, authority: authority, accounts: accounts,
                    now: wallClock().millisecondsSince1970 - 60_000))
        }
    }
}
