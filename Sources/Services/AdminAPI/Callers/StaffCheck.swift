package import APIKit
package import AccountStore
import Base
package import HTTPTypes
package import Logging
package import Metrics

/// Identifies the calling member of the staff, by the token, or by the session of a browser that is logged in to the console's pages.
///
/// A token that is not among the good ones costs the database nothing of its own (`SecretTable`). One that is, is looked up each time: a member
/// who was removed, and a token that was revoked or has expired, are refused from that moment on.
package struct StaffCheck: CallerIdentification {
    package typealias Access = AdminAccess

    private let staff: StaffMembers
    private let tokens: StaffTokenTable
    private let watch: DatabaseWatch?
    private let sessions: (any SessionCheck)?
    private let refused: [StaffTokenRefusal: Counter]

    /// A check.
    /// - Parameters:
    ///   - watch: notices that the database is silent; nil to do without.
    ///   - sessions: finds who has no token; nil where there are no pages.
    package init(
        _ staff: StaffMembers, _ tokens: StaffTokenTable, _ watch: DatabaseWatch?, sessions: (any SessionCheck)? = nil,
        _ factory: any MetricsFactory = MetricsSystem.factory
    ) {
        self.staff = staff
        self.tokens = tokens
        self.watch = watch
        self.sessions = sessions
        refused = Dictionary(
            uniqueKeysWithValues: StaffTokenRefusal.allCases.map {
                (
                    $0,
                    Counter(
                        label: "storehook_api_refused_tokens_total", dimensions: [("reason", $0.rawValue)],
                        factory: factory)
                )
            })
    }

    /// Each address is limited before credentials are looked at.
    package func claimsTrust(_ headers: HTTPFields) -> Bool { false }

    package func caller(of evidence: CallerEvidence) async throws -> StaffMember {
        do {
            if let sessions, !evidence.headers.contains(.authorization),
                let member = try await watching({ try await sessions.member(evidence) })
            {
                return member
            }
            return try await holder(evidence.headers)
        } catch let refusal as StaffTokenRefusal {
            throw CallerRefusal(refusal.problem) { [refused] in refused[refusal]?.increment() }
        }
    }

    /// By the tokens and sessions that were read last: a revoked one is noticed within seven seconds. While they are not known, none is refused.
    package func areStillGood(_ evidence: CallerEvidence) -> Bool {
        if let sessions, !evidence.headers.contains(.authorization) { return sessions.isStillGood(evidence) }
        guard let text = evidence.headers[values: .authorization].first.flatMap({ BearerText.token(in: $0) }),
            let secret = StaffSecret(text)
        else { return false }
        if case .unknown = tokens.remembered(secret.digest) { return false }
        return true
    }

    package func rateKey(of caller: StaffMember) -> String? { caller.actor }

    package func metadata(of caller: StaffMember) -> Logger.Metadata { ["staff": "\(caller.logName)"] }

    private func holder(_ headers: HTTPFields) async throws -> StaffMember {
        let values = headers[values: .authorization]
        guard let value = values.first else { throw StaffTokenRefusal.missing }
        // With two headers, a proxy in front may have checked the other one.
        guard values.count == 1, let text = BearerText.token(in: value), let secret = StaffSecret(text) else {
            throw StaffTokenRefusal.malformed
        }
        switch await tokens.finding(of: secret.digest) {
        case .unknown: throw StaffTokenRefusal.unknown
        case .unavailable:
            throw APIProblem.unavailable(
                ProblemText("staff tokens cannot be checked at the moment", "暂时无法核验员工令牌", "暫時無法核驗員工權杖"))
        case .good:
            guard let holder = try await watching({ [staff] in try await staff.holder(of: secret) }) else {
                throw StaffTokenRefusal.unknown
            }
            return holder
        }
    }

    private func watching(_ look: @escaping @Sendable () async throws -> StaffMember?) async throws -> StaffMember? {
        guard let watch else { return try await look() }
        return try await watch.watching(look)
    }
}

/// The staff tokens that are good, with their numbers.
package typealias StaffTokenTable = SecretTable<Int64>

extension SecretTable where Holder == Int64 {
    /// A table that nothing was read into yet.
    package convenience init(_ staff: StaffMembers, logger: Logger) {
        self.init(warning: "Could not read which staff tokens are good", logger: logger) {
            try await staff.validTokens()
        }
    }
}
