import Postgres
import Testing

@Suite("A server's version")
struct ServerVersionTests {
    @Test("is served from 15 to 18, and tested but for 17")
    func standing() {
        let standings = (13...20).map { ServerVersion(number: $0 * 10_000 + 4).standing }
        #expect(
            standings == [.unserved, .unserved, .tested, .tested, .untested, .tested, .unserved, .unserved])
        #expect("\(ServerVersion(number: 160_014))" == "16.14")
        #expect(ServerVersion.tested.allSatisfy { ServerVersion.served.contains($0) })
    }
}
