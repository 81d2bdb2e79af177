/// What an app shows after something did not work, or has to wait.
public struct ClientMessage: Sendable, Hashable {
    /// What the customer can do about it.
    public enum Action: Sendable, Hashable, CaseIterable {
        /// Try the same again.
        case retry
        /// Ask for help.
        case contactSupport
        /// Sign in to the app again.
        case signIn
        /// Buy a higher tier.
        case upgrade
        /// Nothing: to be closed.
        case dismiss

        /// What stands on its button.
        var key: TextKey {
            switch self {
            case .retry: .retry
            case .contactSupport: .contactSupport
            case .signIn: .signInAgain
            case .upgrade: .upgrade
            case .dismiss: .dismiss
            }
        }
    }

    /// What stands above it.
    public let title: String
    /// What it says.
    public let text: String
    /// What the customer can do.
    public let action: Action
    /// What stands on the button for that.
    public let actionTitle: String

    /// A message.
    /// - Parameter title: what stands above it; nil says that it did not work.
    public init(_ text: String, _ action: Action, title: String? = nil, _ texts: ClientTexts) {
        self.title = title ?? texts(.errorTitle)
        self.text = text
        self.action = action
        actionTitle = texts(action.key)
    }
}
