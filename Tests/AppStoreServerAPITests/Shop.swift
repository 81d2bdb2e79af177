import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
import Base
import Crypto
import Simulation
import Synchronization

/// An app with a key, what Apple would sign for it, and a client whose clock and network are the test's.
struct Shop: Sendable {
    static let app = SimulatedApp.example
    /// 2026-02-01T00:00:00Z
    static let now = Timestamp(millisecondsSince1970: 1_769_904_000_000)
    private static let authorities = Task { (try SimulatedAuthority.generate(), try SimulatedAuthority.generate()) }

    /// A .p8 file's text.
    static let keyText = P256.Signing.PrivateKey().pemRepresentation

    /// Counts what the client tells.
    final class Counts: Sendable {
        private let refusals = Mutex<[VerificationCode]>([])
        private let endings = Mutex<[String?]>([])

        var refused: [VerificationCode] { refusals.withLock { $0 } }
        var ended: [String?] { endings.withLock { $0 } }

        var observer: ClientObserver {
            ClientObserver(
                ended: { _, _, failure in self.endings.withLock { $0.append(failure) } },
                refused: { code in self.refusals.withLock { $0.append(code) } })
        }
    }

    let clock = JumpingClock(Self.now)
    let transport: ScriptedTransport
    let client: AppStoreClient
    let counts = Counts()
    /// Signs like Apple.
    let authority: SimulatedAuthority
    /// Signs like a stranger.
    let stranger: SimulatedAuthority

    init(_ script: (Shop.Signing) -> [Result<TransportAnswer, TransportFault>]) async throws {
        (authority, stranger) = try await Self.authorities.value
        transport = ScriptedTransport(clock, script(Signing(authority: authority, stranger: stranger)))
        let clock = clock
        client = AppStoreClient(
            try Self.credentials(), transport: transport, clock: clock,
            verifier: Verifier(
                configuration: VerifierConfiguration(
                    apps: [Self.app.bundleId: Self.app.appAppleId],
                    trustedRoots: Set([Fingerprint(authority.rootFingerprint)].compactMap(\.self))),
                clock: { clock.now() }),
            budget: RateBudget(share: 1), observer: counts.observer, jitter: { 1 })
    }

    static func credentials() throws -> Credentials {
        Credentials(
            bundleId: app.bundleId, issuerId: "57246542-96fe-1a63-e053-0824d011072a", keyId: "2X9R4HXF34",
            key: try SigningKey(pem: keyText))
    }

    /// What Apple would answer with.
    struct Signing {
        let authority: SimulatedAuthority
        let stranger: SimulatedAuthority

        func transaction(
            _ id: String = "1", of bundleId: String = Shop.app.bundleId, in environment: String = "Production",
            by signer: SimulatedAuthority? = nil
        ) -> String {
            (signer ?? authority).sign(
                """
                {"transactionId":"\(id)","originalTransactionId":"1","bundleId":"\(bundleId)","environment":"\(environment)",\
                "productId":"com.example.pro","type":"Auto-Renewable Subscription","signedDate":1769900000000}
                """)
        }

        func renewal(
            of original: String = "1", in environment: String = "Production", by signer: SimulatedAuthority? = nil
        ) -> String {
            (signer ?? authority).sign(
                """
                {"originalTransactionId":"\(original)","productId":"com.example.pro","autoRenewStatus":1,\
                "environment":"\(environment)","signedDate":1769900000000}
                """)
        }

        func notification(
            _ uuid: String = "00000000-0000-4000-8000-000000000001", by signer: SimulatedAuthority? = nil
        ) -> String {
            (signer ?? authority).sign(
                """
                {"notificationType":"TEST","notificationUUID":"\(uuid)","version":"2.0","signedDate":1769900000000,\
                "data":{"environment":"Production","bundleId":"\(Shop.app.bundleId)","appAppleId":\(Shop.app.appAppleId)}}
                """)
        }

        func appTransaction(by signer: SimulatedAuthority? = nil) -> String {
            (signer ?? authority).sign(
                """
                {"receiptType":"Production","bundleId":"\(Shop.app.bundleId)","appAppleId":\(Shop.app.appAppleId),\
                "appTransactionId":"704","receiptCreationDate":1769900000000}
                """)
        }

        func page(_ records: [String], revision: String? = nil, hasMore: Bool = false) -> String {
            let list = records.map { "\"\($0)\"" }.joined(separator: ",")
            let revision = revision.map { ",\"revision\":\"\($0)\"" } ?? ""
            return "{\"signedTransactions\":[\(list)],\"hasMore\":\(hasMore)\(revision)}"
        }
    }
}
