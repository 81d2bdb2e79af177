import StandInSupport
import Testing

@testable import Worker

@Suite("A worker's readiness")
struct ReadinessTests {
    @Test(
        "lasts as long as its lease after its last look at the queue, and ten seconds at least, and says since when not"
    )
    func lastClaim() {
        func why(_ since: Duration?, lease: Duration) -> String? {
            Worker.whyNotReady(sinceLastClaim: since, lease: lease)
        }
        #expect(why(nil, lease: .seconds(60)) == "the worker has not looked at the queue yet")
        #expect(why(.zero, lease: .seconds(60)) == nil && why(.seconds(60), lease: .seconds(60)) == nil)
        #expect(why(.milliseconds(61_500), lease: .seconds(60)) == "the worker last looked at the queue 61 seconds ago")
        #expect(why(.seconds(9), lease: .seconds(1)) == nil && why(.seconds(11), lease: .seconds(1)) != nil)
    }
}
