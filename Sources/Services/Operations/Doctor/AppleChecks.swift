import AppStorePayloads
package import AppStoreServerAPI
import AppleRecords
package import Base
import EvidenceStore
package import Pipeline
package import Postgres

/// Whether Apple accepts the keys: asks for a test notification in each environment, which Apple then posts. Where it is
/// followed, also which link is broken between Apple and what is applied here.
package struct AppleChecks: Sendable {
    /// How the test notifications are followed.
    package struct Following: Sendable {
        /// What is seen here of an app in an environment.
        package struct Records: Sendable {
            /// An instant that is asked of the database.
            package enum Answer: Sendable, Hashable {
                /// This one.
                case at(Timestamp)
                /// There is none.
                case never
                /// The database does not say, for this reason.
                case unknown(String)

                /// What a question is answered with.
                package init(of question: () async throws -> PostgresTimestamp?) async {
                    do {
                        self = try await question().map { .at(Timestamp($0)) } ?? .never
                    } catch let error as PostgresError where error.sqlState == "42501" {
                        self = .unknown(
                            "this user may not see it (\(error)); storehook doctor --role says which right is missing")
                    } catch {
                        self = .unknown("\(error)")
                    }
                }
            }

            /// When Apple's last post of it was stored; never where none of the latest posts is one.
            package var heard: Answer
            /// Up to when everything that Apple lists is held; never where nothing is proven.
            package var proven: Answer

            /// Records.
            package init(heard: Answer, proven: Answer) {
                self.heard = heard
                self.proven = proven
            }
        }

        /// Follows one with a client; nil follows none.
        package var trial: @Sendable (AppStoreClient) -> TestNotificationTrial
        /// The URL that the operator takes for the one in App Store Connect, and what answers there.
        package var url: (text: String, answer: ConnectionVerdict.URLAnswer)?
        /// What is seen here; nil where the database cannot be asked.
        package var records: @Sendable (AppEnvironment) async -> Records?

        /// Follows by these.
        package init(
            trial: @escaping @Sendable (AppStoreClient) -> TestNotificationTrial,
            url: (text: String, answer: ConnectionVerdict.URLAnswer)?,
            records: @escaping @Sendable (AppEnvironment) async -> Records?
        ) {
            self.trial = trial
            self.url = url
            self.records = records
        }
    }

    private let clients: [AppStoreClient]
    private let secretsAlone: [String]
    private let environments: [Environment]
    private let following: Following?
    private let now: @Sendable () -> Timestamp

    /// Waits for nothing longer than some seconds.
    package static let policy = CallPolicy(
        maximumAttempts: 2, firstDelay: .seconds(1), patience: .seconds(8), freshDelays: [])

    /// Checks these apps' keys in these environments. Apple answers in Production and Sandbox only.
    /// - Parameters:
    ///   - secretsAlone: the apps with a shared secret for receipts and no key.
    ///   - following: nil where what Apple posts is not followed.
    ///   - now: this machine's clock.
    package init(
        _ clients: [AppStoreClient], secretsAlone: [String] = [], in environments: Set<Environment>,
        following: Following? = nil, now: @escaping @Sendable () -> Timestamp
    ) {
        self.clients = clients
        self.secretsAlone = secretsAlone
        self.environments = [.production, .sandbox].filter(environments.contains)
        self.following = following
        self.now = now
    }

    /// How asking for one went, and when its answer came by this machine's clock.
    private struct Asked: Sendable {
        var scope: AppEnvironment
        var client: AppStoreClient
        var result: Result<TestNotificationTrial.Way, AppStoreFailure>
        var at: Timestamp

        /// An answer that no URL is set means that Apple accepted the key.
        var isAccepted: Bool {
            switch result {
            case .success: return true
            case .failure(let failure):
                switch failure.reason {
                case .apple, .rateLimited: return true
                default: return false
                }
            }
        }
    }

    /// A finding an app and environment. All apps are asked at the same time, and so is all that Apple posts then followed.
    package func findings() async throws -> [Finding] {
        let all = try await withThrowingTaskGroup(of: (Int, [Asked]).self) { group in
            for (place, client) in clients.enumerated() {
                group.addTask {
                    var asked: [Asked] = []
                    for environment in environments { asked.append(try await ask(client, environment)) }
                    return (place, asked)
                }
            }
            return try await group.reduce(into: [(Int, [Asked])]()) { $0.append($1) }
        }.sorted { $0.0 < $1.0 }.flatMap(\.1)
        var findings = try await withThrowingTaskGroup(of: (Int, Finding).self) { group in
            for (place, one) in all.enumerated() {
                let elsewhere = all.first {
                    $0.scope.bundleID == one.scope.bundleID && $0.scope != one.scope && $0.isAccepted
                }
                group.addTask { (place, try await finding(one, takenIn: elsewhere?.scope.environment)) }
            }
            return try await group.reduce(into: [(Int, Finding)]()) { $0.append($1) }
        }.sorted { $0.0 < $1.0 }.map(\.1)
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

    private func ask(_ client: AppStoreClient, _ environment: Environment) async throws -> Asked {
        let trial = following?.trial(client) ?? TestNotificationTrial(client, nil, now: now)
        let scope = AppEnvironment(bundleID: client.bundleId, environment: environment.rawValue)
        do {
            let way = try await trial.ask(in: environment)
            return Asked(scope: scope, client: client, result: .success(way), at: now())
        } catch let failure as AppStoreFailure {
            return Asked(scope: scope, client: client, result: .failure(failure), at: now())
        }
    }

    private func finding(_ asked: Asked, takenIn accepting: String?) async throws -> Finding {
        let name = "apple \(asked.scope.bundleID) \(asked.scope.environment)"
        let verdict: ConnectionVerdict
        switch asked.result {
        case .failure(let failure):
            verdict = ConnectionVerdict(
                failure, takenIn: accepting.map(Environment.init(rawValue:)),
                clockAhead: failure.answeredAt.map { TestNotificationTrial.difference(asked.at, $0) })
        case .success(let way):
            guard let following else {
                return .ok(name, "Apple accepts the key; a test notification is on its way")
            }
            verdict = try await follow(way, following.trial(asked.client), following.url)
        }
        let seen = await records(asked.scope)
        if verdict.isFault { return .failed(name, verdict.sentence + seen) }
        return verdict.link == nil ? .ok(name, verdict.sentence + seen) : .skipped(name, verdict.sentence + seen)
    }

    private func follow(
        _ way: TestNotificationTrial.Way, _ trial: TestNotificationTrial,
        _ url: (text: String, answer: ConnectionVerdict.URLAnswer)?
    ) async throws -> ConnectionVerdict {
        var way = way
        do {
            try await trial.follow(&way)
        } catch let failure as AppStoreFailure {
            return ConnectionVerdict(failure)
        } catch let error as PostgresError {
            return .noDatabase(error)
        }
        return ConnectionVerdict(way, url: url)
    }

    /// What was heard and proven, after a verdict.
    private func records(_ scope: AppEnvironment) async -> String {
        guard let following, let records = await following.records(scope) else { return "" }
        let heard =
            switch records.heard {
            case .at(let instant): "last heard from Apple at \(instant)"
            case .never: "not heard from Apple lately"
            case .unknown(let why): "when anything was last heard is not known: \(why)"
            }
        let proven =
            switch records.proven {
            case .at(let instant): "proven up to \(instant)"
            case .never: "nothing proven by Apple's history"
            case .unknown(let why): "what is proven is not known: \(why)"
            }
        return " (\(heard), \(proven))"
    }
}
