import AppStorePayloads
import Simulation
import Subscriptions
import TestSupport
import Testing

@Suite("Apple's own reportedStatus")
struct OracleTests {
    @Test("is what we derive at every notification's signing, from what was known by then")
    func stories() throws {
        var compared = 0
        for story in try HeardStory.catalogue() {
            var known = KnownFacts()
            for notification in story.heard {
                known.merge(notification)
                guard let reportedStatus = notification.reportedStatus, let purchase = notification.purchase else {
                    continue
                }
                let status = known.state(of: purchase)?.status(at: notification.signedAt)?.status
                #expect(status?.appleStatus == reportedStatus.status, "\(story.name): \(notification.name)")
                compared += 1
            }
        }
        #expect(compared > 150)
    }

    @Test("is what we derive all through a thousand simulated lives", arguments: sampled([1, 2, 3] as [UInt64]))
    func lives(seed: UInt64) throws {
        let simulation = Simulation(
            seed: seed, subscribers: 350, notifications: 2000, endingAt: 1_767_225_600_000)
        var known = KnownFacts()
        var compared = 0
        for delivery in simulation.deliveries {
            let notification = try HeardNotification(delivery.notification)
            known.merge(notification)
            guard let reportedStatus = notification.reportedStatus, let purchase = notification.purchase else {
                continue
            }
            let status = known.state(of: purchase)?.status(at: notification.signedAt)?.status
            #expect(
                status?.appleStatus == reportedStatus.status,
                "\(notification.name) of \(purchase.originalTransactionID)")
            compared += 1
        }
        #expect(compared > 1000)
    }
}
