import Testing

@testable import Simulation

@Suite("The seeded generator")
struct SeededGeneratorTests {
    @Test("gives the published first numbers of seed 1234567")
    func reference() {
        var random = SeededGenerator(seed: 1_234_567)
        #expect(
            (0..<3).map { _ in random.next() }
                == [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423])
    }

    @Test("makes UUIDs of version 4 in lower case")
    func uuids() {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<200 {
            let uuid = Array(random.uuid())
            #expect(uuid.count == 36)
            #expect([8, 13, 18, 23].allSatisfy { uuid[$0] == "-" })
            #expect(uuid[14] == "4")
            #expect("89ab".contains(uuid[19]))
            #expect(uuid.allSatisfy { "0123456789abcdef-".contains($0) })
        }
    }
}
