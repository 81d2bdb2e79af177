/// What the screen that restores purchases shows at one moment.
public struct RestoreSnapshot: Sendable, Hashable {
    /// How far it is.
    public enum State: Sendable, Hashable {
        /// Nothing was asked for.
        case idle
        /// The store and the server are asked.
        case restoring
        /// So many purchases are this account's.
        case success(Int)
        /// It failed.
        case error(ClientMessage)
        /// There was nothing to restore.
        case noSubscriptions
    }

    /// What stands above it.
    public let title: String
    /// How far it is.
    public let state: State
    /// The same for people.
    public let text: String
    /// What stands on its button: to restore, or to try again.
    public let action: String
    /// Whether that button may be pressed.
    public let canRestore: Bool
    /// What stands above the guide.
    public let guideTitle: String
    /// When to restore, and how: a sentence each.
    public let guide: [String]
    /// The way to support.
    public let support: ModelLink
}
