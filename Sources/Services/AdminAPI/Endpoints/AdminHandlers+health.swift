import APIKit
import AccountStore
import Base
import HTTPTypes
import Operations
import Staff

extension AdminHandlers {
    /// The state of the service.
    var healthShow: AdminEndpoint {
        AdminEndpoint(
            .get, "/admin/health", "getHealth",
            "What the doctor's checks of the database find, as the console's own database user sees it: a minute old at most. For staff of all apps.",
            for: .staff, successes: [.init("A line for each check.", AdminShapes.health.schema)]
        ) { request in
            let member = try await member(request, for: .read)
            // Findings name apps.
            guard member.scope == .all else { throw try await problem(.allApps, request, member) }
            return APIAnswer(.ok, AdminShapes.health.value(of: await health.report()))
        }
    }
}

extension AdminShapes {
    fileprivate static let health = Shape<HealthBoard.Report, Void>(
        "Health",
        [
            .init("ok", "Whether nothing is to be done, as far as could be looked at.") { report in
                report.findings.allSatisfy { $0.status != .failed }
            },
            .init("checkedAt") { $0.checkedAt },
            .list("findings", finding, about: "In the order in which they were looked at.") { $0.findings },
        ])

    private static let finding = Shape<Finding, Void>(
        "HealthFinding",
        [
            .init("check", "What was looked at.") { $0.check },
            .init(
                "status", .choice(["ok", "failed", "skipped"]),
                "failed: something is to be done. skipped: it could not be looked at."
            ) { .string($0.status.rawValue) },
            .init("message", "What was found and, where something is to be done, what.") { $0.answer.message },
        ])
}
