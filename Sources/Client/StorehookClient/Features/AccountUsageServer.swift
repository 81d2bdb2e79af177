import Foundation

/// The account API, as the tracker asks it.
struct AccountUsageServer: UsageServer {
    let api: AccountAPI

    func rules() async throws -> FeatureRules { FeatureRules(try await api.products()) }

    func counts() async throws -> [String: UsageLedger.Line] {
        let usage = try await api.usage()
        return Dictionary(
            usage.usage.compactMap { feature in
                UsageWindow(feature.period, feature.resetsAt).map {
                    (feature.feature, UsageLedger.Line(window: $0, used: feature.used ?? 0))
                }
            }, uniquingKeysWith: { first, _ in first })
    }

    func report(_ entry: UsageLedger.Entry) async throws -> UsageReportFate {
        do {
            let counted = try await api.report(
                entry.act, of: entry.feature, idempotencyKey: entry.key, usedAt: entry.isDated ? entry.usedAt : nil)
            // The answer to a repeated report is that of its first time: others may have been counted since.
            return .counted(
                used: counted.duplicate ? nil : counted.feature.used,
                window: UsageWindow(counted.feature.period, counted.feature.resetsAt))
        } catch let problem as Problem {
            switch problem.code {
            case "invalid_request": return .invalid
            // What the server will never count, also by a word of a later release: what waits behind it is sent. Everything else is sent
            // again: busy, away, signed out, or a proxy's word.
            case "limit_reached", "tier_required", "feature_not_included": return .refused
            case _
            where problem.isServers && (400..<500).contains(problem.status)
                && ![401, 403, 408, 429].contains(problem.status):
                return .refused
            default: throw problem
            }
        }
    }
}

extension UsageWindow {
    /// The window of an answer; nil where the feature is not counted, or by a period that this release does not know.
    init?(_ period: UsagePeriod?, _ resetsAt: Date?) {
        guard let period = period.flatMap({ FeatureLimit.Period(rawValue: $0.rawValue) }) else { return nil }
        self.init(period: period, resetsAt: resetsAt)
    }
}
