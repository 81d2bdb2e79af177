import Foundation
import Testing

@testable import StorehookClient

@Suite("What tiers give of features")
struct FeatureRulesTests {
    private static let rules = SampleRules.readmigo
    private static let midnight = Date(timeIntervalSince1970: 1_800_000_000)

    @Test(
        "allows what the tier has, up to its limit",
        arguments: [
            ("ai_explain", "free", 4, FeatureAccess.allowed),
            ("ai_explain", "free", 5, .restricted(.limitReached(limit: 5, resetsAt: midnight, tier: "pro"))),
            ("ai_explain", "free", 70, .restricted(.limitReached(limit: 5, resetsAt: midnight, tier: "pro"))),
            ("ai_explain", "pro", 99, .allowed),
            ("ai_explain", "pro", 100, .restricted(.limitReached(limit: 100, resetsAt: midnight, tier: "premium"))),
            ("ai_explain", "premium", 1_000_000, .allowed),
            ("ai_summary", "free", 0, .restricted(.tierRequired(tier: "pro"))),
            ("advanced_ai", "free", 0, .restricted(.tierRequired(tier: "premium"))),
            ("advanced_ai", "pro", 0, .restricted(.tierRequired(tier: "premium"))),
            ("advanced_ai", "premium", 0, .allowed),
            ("spaced_repetition", "pro", 0, .allowed),
            // 0 of it is nothing, written as a number.
            ("offline_books", "free", 0, .restricted(.tierRequired(tier: "pro"))),
            ("none_has_it", "premium", 0, .restricted(.tierRequired(tier: nil))),
            ("not_in_catalog", "premium", 0, .restricted(.notKnown)),
            // A tier that the catalog got since it was read.
            ("advanced_ai", "ultra", 0, .allowed), ("none_has_it", "ultra", 0, .restricted(.tierRequired(tier: nil))),
        ])
    func access(_ feature: String, _ tier: String, _ used: Int64, _ access: FeatureAccess) {
        #expect(Self.rules.access(to: feature, in: tier, used: used, resetsAt: Self.midnight) == access)
    }

    @Test("refuses more than is left, also where something is left")
    func amount() {
        func access(_ amount: Int64) -> FeatureAccess {
            Self.rules.access(to: "ai_explain", in: "free", used: 3, amount: amount, resetsAt: nil)
        }
        #expect(access(2) == .allowed)
        #expect(access(3) == .restricted(.limitReached(limit: 5, resetsAt: nil, tier: "pro")))
        #expect(access(.max) == .restricted(.limitReached(limit: 5, resetsAt: nil, tier: "pro")))
    }

    @Test("are those of the first tier for an account without access")
    func free() {
        #expect(Self.rules.limit(of: "ai_explain", in: nil) == .count(5, per: .day))
        #expect(
            Self.rules.access(to: "ai_summary", in: nil, used: 0, resetsAt: nil)
                == .restricted(.tierRequired(tier: "pro")))
    }

    @Test("name the lowest tier that gives more")
    func more() {
        #expect(Self.rules.tier(givingMoreOf: "ai_explain", than: "free")?.id == "pro")
        #expect(Self.rules.tier(givingMoreOf: "ai_explain", than: "pro")?.id == "premium")
        #expect(Self.rules.tier(givingMoreOf: "ai_explain", than: "premium") == nil)
        // The same everywhere: no tier gives more.
        #expect(Self.rules.tier(givingMoreOf: "books_read", than: "free") == nil)
        #expect(FeatureLimit.count(5, per: .day).isMore(than: .count(5, per: .day)) == false)
        #expect(FeatureLimit.unlimited.isMore(than: .open) == false)
        #expect(FeatureLimit.count(5, per: .day).isMore(than: .unlimited) == false)
    }

    @Test("come back from the cache as they were")
    func coded() throws {
        let data = try JSONEncoder().encode(Self.rules)
        #expect(try JSONDecoder().decode(FeatureRules.self, from: data) == Self.rules)
    }
}
