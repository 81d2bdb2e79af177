import AppStorePayloads
package import AppStoreServerAPI
import AppleRecords
package import Base

/// The clients that this process has: one for each app that it has a key of.
package struct AppleClients: Sendable {
    private let clients: [String: AppStoreClient]
    /// What the clients may ask together.
    package let budget: RateBudget?
    /// The apps with a key, in those of the environments served for which Apple has servers.
    package let scopes: [AppEnvironment]

    /// Clients by their bundle ids, in these environments.
    /// - Parameter budget: that of all the clients, to be divided among the processes that ask; nil: it stays as it is.
    package init(_ clients: [AppStoreClient], in environments: Set<Environment>, sharing budget: RateBudget? = nil) {
        self.budget = budget
        self.clients = Dictionary(clients.map { ($0.bundleId, $0) }) { first, _ in first }
        let served = [Environment.production, .sandbox].filter(environments.contains).map(\.rawValue)
        scopes = self.clients.keys.sorted().flatMap { app in
            served.map { AppEnvironment(bundleID: app, environment: $0) }
        }
    }

    /// The client that asks about an app; nil where there is no key of it, or the environment is not served.
    package func client(of scope: AppEnvironment) -> AppStoreClient? {
        scopes.contains(scope) ? clients[scope.bundleID] : nil
    }
}
