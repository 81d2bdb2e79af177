import APIKit
import Accounts
import Base
import HTTPTypes
import Logging

/// `GET /v1/guard`: whether an account may pass, for proxies that ask before they let a request through.
///
/// Only 204, 401 and 403: of anything else nginx makes 500.
package struct Guard: Sendable {
    /// The answer for an account about which nothing is remembered while the database has been away for too long.
    package enum Outage: String, Sendable, CaseIterable {
        /// 403
        case refuse
        /// 204: every caller with a good token passes.
        case allow
    }

    private let memory: GuardMemory
    private let outage: Outage
    private let strangers: GuardStrangers

    /// A guard that remembers.
    package init(_ memory: GuardMemory, outage: Outage = .refuse) {
        self.memory = memory
        self.outage = outage
        strangers = GuardStrangers(memory.logger)
    }

    /// The endpoint.
    package var endpoint: AccountEndpoint {
        var endpoint = AccountEndpoint(
            .get, "/v1/guard", "guard",
            "Whether the account may pass, for auth_request of nginx, Traefik and Envoy. Out of memory, a second old at most; while the "
                + "database is away up to a minute, with X-Storehook-Stale. Whether what is counted is used up it looks where "
                + "usage=required asks for it. It counts nothing.",
            for: .account,
            successes: [
                .init(
                    .noContent,
                    "It may. X-Storehook-Account, X-Storehook-Tier, X-Storehook-Status and, where there is an end, "
                        + "X-Storehook-Expires say who it is; X-Storehook-Proven-Until is provenUntil of the account, where there is a proof.",
                    nil)
            ]
        ) { try await answer($0) }
        endpoint.limits = .none
        // Out of memory; what it reads for that is watched there.
        endpoint.isWatched = true
        endpoint.query = [
            .init("tier", .string(.init(1, 64)), "The tier that is needed at least."),
            .init("feature", .string(.init(1, 64)), "The feature that has to be open."),
            .init(
                "usage", .choice(["required"]),
                "Something of the feature has to be left, too. What has no limit is always left."),
        ]
        endpoint.style = Self.style
        endpoint.problems = AccessRefusal.allCases.map(\.code) + [.limitReached, Self.unavailable]
        return endpoint
    }

    private func answer(_ request: AccountRequest) async throws -> APIAnswer {
        let caller = try request.requireCaller()
        let feature = request.query["feature"]
        let isUseAsked = request.query["usage"] != nil
        guard !isUseAsked || feature != nil else {
            throw APIProblem(.invalidRequest, "usage is that of a feature: name it")
        }
        guard let known = await memory.knowledge(of: caller) else {
            guard outage == .allow else { throw APIProblem(Self.unavailable, "the account is not known now") }
            return Self.passed(caller, [(Self.stale, "unknown")])
        }
        let tier = request.query["tier"]
        if let refusal = known.account.refusal(at: known.now, tier: tier, feature: feature) {
            strangers.note(refusal, tier: tier, feature: feature)
            throw APIProblem(
                refusal.code, "it may not", headers: Self.fields(Self.age(known.stale) + Self.proof(known)))
        }
        var age = Self.age(known.stale)
        if isUseAsked, let feature { age = try await left(of: feature, known) }
        let phase = known.account.state.value(at: known.now)
        var headers = [(Self.tier, phase.tier), (Self.status, phase.status.rawValue)] + age
        if let end = phase.expiresAt { headers.append((Self.expires, "\(end)")) }
        return Self.passed(caller, headers + Self.proof(known))
    }

    /// Refuses an account that has used up what its tier gives of a feature that is open to it.
    /// - Returns: how old the answer is, where that is more than it should be.
    private func left(
        of feature: String, _ known: GuardMemory.Knowledge
    ) async throws(APIProblem) -> [(HTTPField.Name?, String)] {
        guard let allowance = known.account.allowance(of: feature, at: known.now) else { return Self.age(known.stale) }
        guard let count = await memory.count(of: allowance.counter, reading: known.stale == nil) else {
            guard outage == .allow else { throw APIProblem(Self.unavailable, "the counter is not known now") }
            return [(Self.stale, "unknown")]
        }
        let age = Self.age([known.stale, count.stale].compactMap(\.self).max())
        guard count.used < allowance.limit else {
            throw APIProblem(.limitReached, "nothing is left", headers: Self.fields(age + Self.proof(known)))
        }
        return age
    }

    private static func age(_ stale: Duration?) -> [(HTTPField.Name?, String)] {
        stale.map { [(Self.stale, "\(max(1, $0.components.seconds))")] } ?? []
    }

    /// Up to when what it goes by holds all that Apple has posted.
    private static func proof(_ known: GuardMemory.Knowledge) -> [(HTTPField.Name?, String)] {
        known.account.provenUntil.map { [(provenUntil, "\($0)")] } ?? []
    }

    // Read out of their text once: it costs as much as all else that a guard does.
    private static let account = HTTPField.Name("X-Storehook-Account")
    private static let tier = HTTPField.Name("X-Storehook-Tier")
    private static let status = HTTPField.Name("X-Storehook-Status")
    private static let expires = HTTPField.Name("X-Storehook-Expires")
    private static let provenUntil = HTTPField.Name("X-Storehook-Proven-Until")
    private static let stale = HTTPField.Name("X-Storehook-Stale")
    private static let reason = HTTPField.Name("X-Storehook-Reason")

    private static func passed(_ caller: Caller, _ headers: [(HTTPField.Name?, String)]) -> APIAnswer {
        APIAnswer(.noContent, nil, headers: fields([(account, caller.name)] + headers))
    }

    private static func fields(_ headers: [(HTTPField.Name?, String)]) -> HTTPFields {
        var fields = HTTPFields()
        for case (let name?, let value) in headers { fields.append(HTTPField(name: name, value: value)) }
        return fields
    }

    /// Nothing is known of the account: the database has been away for too long.
    private static let unavailable = ProblemCode.refusal("unavailable")

    /// 401 stays; everything else is 403, with the code as the reason.
    private static let style = ProblemStyle(content: nil, status: { $0 == .unauthorized ? $0 : .forbidden }) {
        problem, _ in
        var headers = problem.headers
        for field in fields([(reason, problem.code.code)]) { headers.append(field) }
        return APIAnswer(
            problem.code.status == .unauthorized ? .unauthorized : .forbidden, nil, headers: headers, log: problem.log)
    }
}

extension AccessRefusal {
    fileprivate var code: ProblemCode { .refusal(rawValue) }
}

extension ProblemCode {
    /// What stands in `X-Storehook-Reason`.
    fileprivate static func refusal(_ reason: String) -> ProblemCode {
        ProblemCode(.forbidden, reason, "It may not pass")
    }
}
