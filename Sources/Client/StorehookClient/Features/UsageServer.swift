import Foundation

/// What the tracker asks a server.
protocol UsageServer: Sendable {
    /// What tiers give, by the catalog.
    func rules() async throws -> FeatureRules
    /// What the account has used of all that is counted.
    func counts() async throws -> [String: UsageLedger.Line]
    /// Reports a use.
    /// - Throws: where it is not known whether the use was counted, or where it has to be sent again later.
    func report(_ entry: UsageLedger.Entry) async throws -> UsageReportFate
}

/// What became of a report.
enum UsageReportFate: Sendable, Hashable {
    /// It was counted now, or by an earlier report with the same key. How much was used after it, and the period, where the answer
    /// says it of now.
    case counted(used: Int64?, window: UsageWindow?)
    /// It was not counted, and never will be: more than the limit, a feature that is not in the tier.
    case refused
    /// It was not counted, because the server takes a member of it for invalid. That can be its instant alone: one in the future by the
    /// server's clock, or one that is too long ago.
    case invalid
}
