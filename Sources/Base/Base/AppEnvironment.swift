/// An app in one of Apple's environments. Apple keeps a history of notifications for each, and has keys and limits for each.
package struct AppEnvironment: Sendable, Hashable {
    /// The app.
    package var bundleID: String
    /// `Production` or `Sandbox`.
    package var environment: String

    /// An app in an environment.
    package init(bundleID: String, environment: String) {
        self.bundleID = bundleID
        self.environment = environment
    }
}
