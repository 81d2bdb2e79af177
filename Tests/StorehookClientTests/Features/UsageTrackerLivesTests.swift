import Foundation
import Testing

@testable import StorehookClient

/// Random lives of a tracker: uses, networks that fail, processes that end, days that pass.
@Suite("Lives of the tracker of use")
@MainActor
struct UsageTrackerLivesTests {
    private struct Seeded: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    @Test("Each use that was counted here is counted on the server once, whatever fails between", arguments: 0..<60)
    func conserved(_ seed: UInt64) async {
        var random = Seeded(state: seed)
        let device = UsageDevice()
        var tracker = device.launch()
        var counted: [String: Int64] = [:]
        for _ in 0..<150 {
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<5:
                let feature = ["ai_explain", "vocabulary", "books_read"].randomElement(using: &random) ?? "books_read"
                let amount = Int64.random(in: 1...3, using: &random)
                let left = tracker.use(of: feature)?.used
                if tracker.count(feature, amount: amount).isAllowed {
                    counted[feature, default: 0] += amount
                } else {
                    let most = SampleRules.readmigo.limit(of: feature, in: "free")?.most
                    #expect((left ?? 0) + amount > most ?? .max, "seed \(seed): refused with room")
                }
            case 5, 6: device.server.with { $0.network = .up }
            case 7: device.server.with { $0.network = .down }
            case 8: device.server.with { $0.network = .losingAnswers }
            case 9: await tracker.synchronize()
            case 10: tracker = device.launch()
            default: device.pass(TimeInterval(Int.random(in: 60...40_000, using: &random)))
            }
            let used = tracker.use(of: "vocabulary")?.used ?? 0
            #expect(used == counted["vocabulary"] ?? 0, "seed \(seed)")
            #expect((tracker.use(of: "ai_explain")?.used ?? 0) <= 5, "seed \(seed)")
        }
        device.server.with { $0.network = .up }
        await tracker.synchronize()
        for (feature, amount) in counted {
            #expect(device.server.total(of: feature) == amount, "seed \(seed): \(feature)")
        }
        #expect(device.server.with { $0.refused } == 0, "seed \(seed): the server refused what was allowed here")
        #expect(tracker.state.waiting == 0)
    }
}
