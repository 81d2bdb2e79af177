import AppStorePayloads
package import AppStoreVerification
package import Base

/// Whom programs on a database serve, and whose signatures they trust.
package struct Served: Sendable, Hashable {
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
        /// What it may sign for.
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

    /// Whom to serve, and whom to trust.
    package init(apps: Set<App> = [], roots: Set<Root> = []) {
        self.apps = apps
        self.roots = roots
    }

    /// What a worker with this configuration serves.
    package init(_ trust: VerifierConfiguration) {
        self.init(
            apps: Set(trust.environments.flatMap { place in trust.apps.keys.map { App($0, in: place) } }),
            roots: Set(
                trust.environments.flatMap { place in
                    trust.trustedRoots.byEnvironment[place, default: []].map { Root("\($0)", for: place) }
                }))
    }

    /// An environment of purchases that stands beside one of developers' machines, where everybody can sign: such never share
    /// a database. Nil where there is none.
    package var contradiction: (purchases: Environment, homemade: Environment)? {
        let places = Set(apps.map(\.environment))
        guard places.contains(.production), let other = places.subtracting([.production, .sandbox]).first else {
            return nil
        }
        return (.production, other)
    }

    /// What of these is not served by somebody with this configuration: other apps, and for the environments that are
    /// served roots that are not trusted.
    package func missing(from own: Served) -> Served {
        let names = Set(own.apps.map(\.bundleID))
        let places = Set(own.apps.map(\.environment))
        return Served(
            apps: apps.filter { !names.contains($0.bundleID) },
            roots: roots.filter { places.contains($0.environment) && !own.roots.contains($0) })
    }
}
