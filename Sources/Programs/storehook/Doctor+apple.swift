import AppStoreServerAPI
import AppStoreVerification
import AppleRecords
import AppleSync
import Base
import EvidenceStore
import HTTPKit
import Operations
import Pipeline
import Postgres

extension Doctor {
    /// Whether Apple accepts the keys, and with `--apple` whether its test notifications come through. A receiver and a monitor have no
    /// key.
    func appleFindings(_ settings: Settings) async throws -> [Finding] {
        guard settings.hasAppleKeys else {
            let message = "no key is set, so Apple cannot be asked; see STOREHOOK_APPLE_KEYS"
            return [apple ? .failed("apple", "key: \(message)") : .skipped("apple", message)]
        }
        let access: AppleAccess
        do {
            access = try AppleAccess(
                settings, policy: AppleChecks.policy, limits: HTTPTransport.Limits(answer: .seconds(10)))
        } catch {
            guard self.apple else { return [.skipped("apple", "see configuration")] }
            return [.failed("apple", (error as? CommandFailure)?.message ?? "\(error)")]
        }
        let pool = apple && settings.hasDatabase ? try? pool(settings).pool : nil
        let apps = access.keys.apps.sorted { $0.key < $1.key }.map(\.value)
        let checks = AppleChecks(
            apps.compactMap { access.client($0) }, secretsAlone: apps.filter { $0.credentials == nil }.map(\.bundleId),
            in: try settings.verifier().environments, following: apple ? await following(pool) : nil, now: WallClock.now
        )
        let findings = try await checks.findings()
        await access.shutdown()
        await pool?.close()
        return findings
    }

    private func following(_ pool: PostgresPool?) async -> AppleChecks.Following {
        let (canaries, patience) = (pool.map { Canaries($0) }, TestNotificationTrial.Patience(within: .seconds(wait)))
        var seen: (text: String, answer: ConnectionVerdict.URLAnswer)?
        if let url { seen = (url, await URLCheck(url).answer()) }
        return AppleChecks.Following(
            trial: { TestNotificationTrial($0, canaries, patience: patience, now: WallClock.now) }, url: seen,
            records: { scope in
                guard let pool else { return nil }
                return AppleChecks.Following.Records(
                    heard: await .init { try await Outbox(pool).lastHeard(of: scope) },
                    proven: await .init { try await History(pool).proofs().first { $0.scope == scope }?.provenUntil })
            })
    }
}
