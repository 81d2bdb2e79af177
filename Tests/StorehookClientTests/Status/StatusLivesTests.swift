import Testing

@testable import StorehookClient

@MainActor
@Suite("Random lives of a device")
struct StatusLivesTests {
    @Test("allow what the server, the store or the cache gives, and lock out no customer who has paid and is online")
    func lives() async {
        var figures: [String: Int] = [:]
        var wrongs: [String] = []
        for seed in 0..<300 as Range<UInt64> {
            let life = StatusLife(seed)
            await life.live(80)
            figures.merge(life.figures, uniquingKeysWith: +)
            wrongs += life.wrongs.map { "\(seed): \($0)" }
        }
        #expect(wrongs.count == 0, "\(wrongs.prefix(5).joined(separator: "\n"))")
        // Each way was lived through.
        for way in ["store", "server", "cache", "not", "taken back"] {
            #expect(figures[way, default: 0] > 100, "\(figures)")
        }
    }
}
