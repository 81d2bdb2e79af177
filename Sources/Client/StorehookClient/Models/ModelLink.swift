public import Foundation

/// A link or button with its title.
public struct ModelLink: Sendable, Hashable {
    /// What stands on it.
    public let title: String
    /// Where it leads; nil where the app has named no address, or where it is an action.
    public let url: URL?
}
