@testable public import Simulation

/// A story that has been told: what Apple would send, and what must be true.
public struct StoryPerformance: Sendable {
    /// The story.
    public let story: Story
    /// Every app and environment in which something happens.
    public let apps: [SimulatedApp]
    /// The notifications in the order of their outer signed dates.
    public let notifications: [UnsignedNotification]
    /// What must be true, in the order of the instants.
    public let expectations: [StoryExpectation]

    /// The longest time from an event to its notification: more than seconds means that a script told events out of order.
    let longestDelay: Milliseconds
}
