import AppStorePayloads
import AppStoreVerification
import Base
import Stories
import Testing

@testable import Simulation

@Suite("Signed notifications of the simulator")
struct SignedNotificationTests {
    private let authority: SimulatedAuthority
    private let verifier: Verifier

    init() throws {
        authority = try SimulatedAuthority.generate()
        let root = try #require(Fingerprint(authority.rootFingerprint))
        verifier = Verifier(
            configuration: VerifierConfiguration(
                apps: ["com.example.storehook": 1_234_567_890, "com.example.storehook.second": 1_234_567_891],
                trustedRoots: [root]), clock: { Timestamp(secondsSince1970: 1_790_000_000) })
    }

    @Test("pass verification in both environments, whole", arguments: SimulatedApp.Environment.allCases)
    func verification(environment: SimulatedApp.Environment) throws {
        for story in Story.catalogue {
            for notification in story.performed(in: .example.in(environment)).notifications {
                let verified = try verifier.verifyNotification(Array(notification.signed(by: authority).utf8))
                #expect(verified.payload.notificationUUID == notification.uuid)
                #expect(verified.transaction?.json == notification.transaction?.json)
                #expect(verified.renewal?.json == notification.renewal?.json)
            }
        }
    }

    /// The real ones: 4.8 kB for a test, 11.6 to 11.7 kB for a consumable, 18.4 to 18.7 kB for a subscription.
    @Test("are as large as Apple's, within a tenth")
    func sizes() {
        let simulation = Simulation(seed: 3, notifications: 400, endingAt: 1_790_000_000_000)
        let all = Story.catalogue.flatMap { $0.performed().notifications } + simulation.deliveries.map(\.notification)
        for notification in all {
            let real: Int
            if notification.renewal != nil {
                real = 18_650
            } else if notification.transaction != nil {
                real = 11_650
            } else if notification.type == "TEST" {
                real = 4780
            } else {
                continue
            }
            let size = notification.signed(by: authority).utf8.count
            #expect(abs(size - real) * 10 <= real, "\(notification.type) has \(size)")
        }
    }

    @Test("are posted under one name")
    func body() {
        let body = UnsignedNotification.postBody("a.b.c")
        #expect(String(decoding: body, as: UTF8.self) == #"{"signedPayload":"a.b.c"}"#)
    }
}
