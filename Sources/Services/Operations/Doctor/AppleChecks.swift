import AppStorePayloads
package import AppStoreServerAPI
package import Base

/// Whether Apple accepts the keys: asks for a test notification in each environment, which Apple then posts.
package struct AppleChecks: Sendable {
    private let clients: [AppStoreClient]
    private let secretsAlone: [String]
    private let environments: [Environment]

    /// Waits for nothing longer than some seconds.
    package static let policy = CallPolicy(
        maximumAttempts: 2, firstDelay: .seconds(1), patience: .seconds(8), freshDelays: [])

    /// Checks these apps' keys in these environments. Apple answers in Production and Sandbox only.
    /// - Parameter secretsAlone: the apps with a shared secret for receipts and no key.
    package init(_ clients: [AppStoreClient], secretsAlone: [String] = [], in environments: Set<Environment>) {
        self.clients = clients
        self.secretsAlone = secretsAlone
        self.environments = [.production, .sandbox].filter(environments.contains)
    }

    /// A finding an app and environment.
    package func findings() async throws -> [Finding] {
        var findings: [Finding] = []
        for client in clients {
            var answers: [(Environment, AppStoreFailure?)] = []
            for environment in environments { answers.append((environment, try await failure(client, environment))) }
            for (environment, failure) in answers {
                let isAcceptedElsewhere = answers.contains { $0.0 != environment && Self.isAccepted($0.1) }
                findings.append(Self.finding(client.bundleId, environment, failure, isAcceptedElsewhere))
            }
        }
        // Whether Apple knows the secret can be seen only with a genuine receipt of the app.
        findings += secretsAlone.map {
            .skipped(
                "apple \($0)",
                "a shared secret alone is set: verifyReceipt answers for receipts, from whose answers no state is derived, and nothing "
                    + "else can be asked; make a key"
            )
        }
        return findings
    }

    private func failure(_ client: AppStoreClient, _ environment: Environment) async throws -> AppStoreFailure? {
        do {
            _ = try await client.ask(.testNotification, in: environment)
            return nil
        } catch let failure as AppStoreFailure {
            return failure
        }
    }

    /// An answer that no URL is set means that Apple accepted the key.
    private static func isAccepted(_ failure: AppStoreFailure?) -> Bool {
        switch failure?.reason {
        case nil, .apple, .rateLimited: true
        default: false
        }
    }

    private static func finding(
        _ bundleId: String, _ environment: Environment, _ failure: AppStoreFailure?, _ isAcceptedElsewhere: Bool
    ) -> Finding {
        let name = "apple \(bundleId) \(environment)"
        switch failure?.reason {
        case nil: return .ok(name, "Apple accepts the key; a test notification is on its way")
        case .unauthorized where environment == .production && isAcceptedElsewhere:
            return .skipped(name, "Apple accepts the key in Sandbox: the app was never released")
        case .rateLimited: return .skipped(name, failure?.message ?? "")
        default: return .failed(name, failure?.message ?? "")
        }
    }
}
