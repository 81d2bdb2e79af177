import AppStorePayloads
package import AppStoreVerification
package import Base

/// The apps that programs on a database serve, and the roots that they trust.
package struct ServedApps: Sendable, Hashable {
    /// An app in one environment.
    package struct App: Sendable, Hashable {
        /// Where its purchases are made.
        package var environment: Environment
        /// The app.
        package var bundleID: String

        /// An app in one environment.
        package init(_ bundleID: String, in environment: Environment) {
            self.environment = environment
            self.bundleID = bundleID
        }
    }

    /// A root that is trusted for one environment.
    package struct Root: Sendable, Hashable {
        /// The environment that it may sign for.
        package var environment: Environment
        /// The SHA-256 of its DER, in lower-case hexadecimal.
        package var fingerprint: String

        /// A root that is trusted for one environment.
        package init(_ fingerprint: String, for environment: Environment) {
            self.environment = environment
            self.fingerprint = fingerprint
        }
    }

    /// The apps.
    package var apps: Set<App>
    /// The roots.
    package var roots: Set<Root>

    /// The apps to serve, and the roots to trust.
    package init(apps: Set<App> = [], roots: Set<Root> = []) {
        self.apps = apps
        self.roots = roots
    }

    /// The apps and roots of a worker with this configuration.
    package init(_ trust: VerifierConfiguration) {
        self.init(
            apps: Set(trust.environments.flatMap { place in trust.apps.keys.map { App($0, in: place) } }),
            roots: Set(
                trust.environments.flatMap { place in
                    trust.trustedRoots.byEnvironment[place, default: []].map { Root("\($0)", for: place) }
                }))
    }

    /// An environment of purchases together with one of developers' machines, where anyone can sign: these never share
    /// a database. Nil where there is no such pair.
    package var contradiction: (purchases: Environment, homemade: Environment)? {
        let places = Set(apps.map(\.environment))
        guard places.contains(.production), let other = places.subtracting([.production, .sandbox]).first else {
            return nil
        }
        return (.production, other)
    }

    /// The part that a program with this configuration does not serve: other apps, and, in the environments that it
    /// serves, roots that it does not trust.
    package func missing(from own: ServedApps) -> ServedApps {
        let names = Set(own.apps.map(\.bundleID))
        let places = Set(own.apps.map(\.environment))
        return ServedApps(
            apps: apps.filter { !names.contains($0.bundleID) },
            roots: roots.filter { places.contains($0.environment) && !own.roots.contains($0) })
    }
}
