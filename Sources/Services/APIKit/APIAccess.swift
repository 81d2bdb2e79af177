package import Base
package import HTTPTypes
package import Logging

/// The access that an endpoint needs, and what a handler knows of the caller. APIs differ from each other in this.
package protocol APIAccess: Sendable, Hashable {
    /// What a handler knows of the caller.
    associatedtype Caller: Sendable

    /// The security schemes of the OpenAPI document.
    static var securitySchemes: JSONValue { get }
    /// Whether anyone may call. Then no caller is identified.
    var isOpen: Bool { get }
    /// The requirements of an operation in the OpenAPI document.
    var security: JSONValue { get }
    /// What an endpoint may answer because callers are looked for.
    var problems: [ProblemCode] { get }

    /// Why this caller may not call; nil if it may.
    func refusal(of caller: Caller) -> APIProblem?
}

/// Finds the caller of a request.
package protocol CallerIdentification<Access>: Sendable {
    /// The callers that it finds.
    associatedtype Access: APIAccess

    /// Whether the request claims to be trusted: it is then limited by its address only after its credentials were refused.
    func claimsTrust(_ headers: HTTPFields) -> Bool
    /// The caller.
    /// - Throws: ``CallerRefusal``; ``APIProblem`` where that cannot be found out, or something is missing.
    func caller(of evidence: CallerEvidence) async throws -> Access.Caller
    /// Whether the credentials of an identified caller are still good, by what is in memory; true where that is not known. An answer that goes on
    /// ends once they are not.
    func areStillGood(_ evidence: CallerEvidence) -> Bool
    /// By what name a caller's requests are counted; nil where their rate is not limited.
    func rateKey(of caller: Access.Caller) -> String?
    /// What log lines say of a caller.
    func metadata(of caller: Access.Caller) -> Logger.Metadata
}

extension CallerIdentification {
    /// For APIs whose answers do not go on.
    package func areStillGood(_ evidence: CallerEvidence) -> Bool { true }
}

/// Credentials that are not accepted.
package struct CallerRefusal: Error {
    /// What is answered.
    package var problem: APIProblem
    /// Called where that is really answered, and not that the sender asks too often.
    package var onAnswer: @Sendable () -> Void

    /// A refusal.
    package init(_ problem: APIProblem, onAnswer: @escaping @Sendable () -> Void = {}) {
        self.problem = problem
        self.onAnswer = onAnswer
    }
}
