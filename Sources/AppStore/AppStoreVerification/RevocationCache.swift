import AppStorePayloads
public import Base
import Synchronization

/// Known revocation statuses of certificates, and the open questions of verifications.
///
/// A verifier with a cache refuses with `revocation_unknown` what it cannot decide, and leaves the request here. A
/// caller that may do I/O takes the requests, sends them, and puts the responses in. Nothing here waits.
public final class RevocationCache: Sendable {
    private enum Status {
        case answered(OCSPResponse.Status)
        case unanswered(String)
    }

    private struct State {
        var known: [OCSPRequest: (status: Status, until: Timestamp)] = [:]
        var open: Set<OCSPRequest> = []
    }

    private let state = Mutex(State())
    private let capacity: Int

    /// An empty cache for up to so many certificates, at least two: a chain's.
    public init(capacity: Int = 64) { self.capacity = max(2, capacity) }

    /// The open requests since they were last taken, each once.
    public func takeRequests() -> [OCSPRequest] {
        state.withLock { state in
            defer { state.open = [] }
            return Array(state.open)
        }
    }

    /// Notes an answer, for as long as it holds.
    public func note(_ answer: OCSPResponse, to question: OCSPRequest) {
        note(.answered(answer.status), question, until: answer.validUntil)
    }

    /// Records that no responder answered, so that there is no request before `until`.
    /// - Parameter why: one line.
    public func noteFailure(_ why: String, to question: OCSPRequest, until: Timestamp) {
        note(.unanswered(why), question, until: until)
    }

    /// Requires that none of the chain's certificates was revoked.
    ///
    /// A revoked one is refused whatever the date in the payload: a thief of the key can write any date.
    /// - Throws: `revoked`, or `revocation_unknown`.
    func require(_ chain: CertificateChain, at now: Timestamp) throws(VerificationFailure) {
        try require(chain.revocationQuestions, at: now)
    }

    /// Likewise, for the certificates of these questions.
    func require(_ questions: [OCSPRequest], at now: Timestamp) throws(VerificationFailure) {
        var failure: VerificationFailure?
        state.withLock { state in
            for question in questions {
                let entry = state.known[question].flatMap { now < $0.until ? $0.status : nil }
                switch entry {
                case .answered(.good): continue
                case .answered(.revoked):
                    failure = VerificationFailure(.revoked, "Its authority has revoked \(question.name).")
                    return
                case .answered(.unknown): failure = Self.unknown(question, "its authority does not know it")
                case .unanswered(let why): failure = Self.unknown(question, why)
                case nil:
                    if state.open.count < capacity { state.open.insert(question) }
                    failure = Self.unknown(question, "nobody has been asked yet")
                }
            }
        }
        if let failure { throw failure }
    }

    private static func unknown(_ question: OCSPRequest, _ why: String) -> VerificationFailure {
        VerificationFailure(.revocationUnknown, "Whether \(question.name) was revoked is not known: \(why).")
    }

    private func note(_ status: Status, _ question: OCSPRequest, until: Timestamp) {
        state.withLock { state in
            if state.known[question] == nil, state.known.count >= capacity,
                let first = state.known.min(by: { $0.value.until < $1.value.until })
            {
                state.known[first.key] = nil
            }
            state.known[question] = (status, until)
        }
    }
}
