@testable public import Simulation

/// A named life, told for what it teaches: notifications at instants relative to a start, and what must be true in between.
public struct Story: Sendable {
    /// The name, in lower case with hyphens; no two stories share one.
    public let name: String
    /// One sentence: what a receiver that gets this story right has understood.
    public let teaches: String

    private let script: @Sendable (inout StoryTeller) -> Void

    init(_ name: String, teaches: String, _ script: @escaping @Sendable (inout StoryTeller) -> Void) {
        self.name = name
        self.teaches = teaches
        self.script = script
    }

    /// Tells the story.
    ///
    /// - Parameters:
    ///   - app: where it happens; a few stories happen in further apps or environments too, named in the performance.
    ///   - start: the first instant; 2025-06-15T12:26:40Z by default. No story lasts longer than two years.
    ///   - variation: tells the same story with other identifiers and delays; 0 to 99.
    public func performed(
        in app: SimulatedApp = .example, startingAt start: Milliseconds = 1_749_990_400_000, variation: Int = 0
    ) -> StoryPerformance {
        var teller = StoryTeller(name: name, app: app, start: start, variation: variation)
        script(&teller)
        return teller.performance(of: self)
    }

    /// Every story.
    public static let catalogue: [Story] =
        periodStories + offerStories + planStories + billingStories + priceStories + refundStories + accountStories
        + purchaseStories + noticeStories

    /// The story of that name.
    public static func named(_ name: String) -> Story? {
        catalogue.first { $0.name == name }
    }
}
