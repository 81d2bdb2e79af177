public import Foundation

/// Addresses of the app that its screens link to.
public struct AppLinks: Sendable, Hashable {
    /// The privacy policy.
    public var privacy: URL?
    /// The terms of service.
    public var terms: URL?
    /// Where customers get help: a page, or a `mailto:` address.
    public var support: URL?
    /// Where customers manage what they subscribe to: Apple's page by default.
    public var manage: URL?

    /// Addresses.
    public init(
        privacy: URL? = nil, terms: URL? = nil, support: URL? = nil,
        manage: URL? = URL(string: "https://apps.apple.com/account/subscriptions")
    ) {
        self.privacy = privacy
        self.terms = terms
        self.support = support
        self.manage = manage
    }
}
