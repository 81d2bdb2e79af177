import AppleRecords
import Base
import Postgres

extension DatabaseChecks {
    /// How long an extension may be waited for: as the alert StorehookExtensionUnfinished has it.
    private static let extensionTolerance = Duration.seconds(86_400)
    /// Apple works through all subscribers of a product for hours or days.
    private static let massTolerance = Duration.seconds(7 * 86_400)

    /// Whether what Apple was asked to extend was extended.
    func extensions() async throws -> Finding {
        let open = try await RenewalExtensions(pool).open()
        let late = open.filter { one in
            one.oldestAge
                > (one.kind == "all" && one.state == .accepted ? Self.massTolerance : Self.extensionTolerance)
        }
        guard late.isEmpty else {
            let texts = late.map { one in
                "\(one.scope.bundleID) \(one.scope.environment): \(one.count) \(one.state.rawValue), the oldest for "
                    + "\(one.oldestAge.age)"
            }
            return .failed(
                "extensions",
                texts.joined(separator: "; ")
                    + ": storehook extensions list --open, and StorehookExtensionUnfinished in deploy/runbook.md")
        }
        let count = open.reduce(0) { $0 + $1.count }
        return .ok("extensions", count == 0 ? "none is under way" : "\(count) under way, none of them overdue")
    }
}
