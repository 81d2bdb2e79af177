/// What the screen of an ended subscription shows at one moment.
public struct ExpiredSnapshot: Sendable, Hashable {
    /// Whether it is to be shown: access has ended. While it has not, or nothing ever gave any, the app shows its content or its paywall.
    public let isExpired: Bool
    /// What stands above it.
    public let title: String
    /// That nothing is lost, and how to go on.
    public let message: String
    /// When it ended, for people; nil where that is not known.
    public let expiredOn: String?
    /// What stands on the button that leads to the paywall.
    public let renewTitle: String
    /// What stands on the button that restores.
    public let restoreTitle: String
    /// Whether purchases are being restored.
    public let isRestoring: Bool
    /// What to show after restoring did not work, or found nothing.
    public let problem: ClientMessage?
}
