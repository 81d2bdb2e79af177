/// An app in one environment: what Apple keeps a list for.
package struct HistoryScope: Sendable, Hashable {
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
