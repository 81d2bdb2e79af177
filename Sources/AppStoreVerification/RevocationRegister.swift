public import AppStorePayloads
import Synchronization

/// What is known about the revocation of certificates, and what a verification would have had to know.
///
/// A verifier with a register refuses with `revocation_unknown` what it cannot decide, and leaves the question here; who may
/// do I/O takes the questions, asks, and puts the answers in. Nothing here waits.
public final class RevocationRegister: Sendable {
    private enum Verdict {
        case answered(OCSPAnswer.Status)
        case unanswered(String)
    }

    private struct State {
        var known: [OCSPQuestion: (verdict: Verdict, until: Timestamp)] = [:]
        var open: Set<OCSPQuestion> = []
    }

    private let state = Mutex(State())
    private let capacity: Int

    /// An empty register for up to so many certificates, at least two: a chain's.
    public init(capacity: Int = 64) { self.capacity = max(2, capacity) }

    /// The questions that verifications ran into since they were taken last, each once.
    public func takeQuestions() -> [OCSPQuestion] {
        state.withLock { state in
            defer { state.open = [] }
            return Array(state.open)
        }
    }

    /// Notes an answer, for as long as it holds.
    public func note(_ answer: OCSPAnswer, to question: OCSPQuestion) {
        note(.answered(answer.status), question, until: answer.validUntil)
    }

    /// Notes that nobody answered, so that nobody is asked again before `until`.
    /// - Parameter why: one line.
    public func noteFailure(_ why: String, to question: OCSPQuestion, until: Timestamp) {
        note(.unanswered(why), question, until: until)
    }

    /// Makes sure that none of the chain's certificates was revoked.
    ///
    /// A revoked one is refused whenever the payload was signed: the date is the word of whoever holds the key.
    /// - Throws: `revoked`, or `revocation_unknown`.
    func require(_ chain: CertificateChain, at now: Timestamp) throws(VerificationFailure) {
        var failure: VerificationFailure?
        state.withLock { state in
            for question in chain.revocationQuestions {
                let entry = state.known[question].flatMap { now < $0.until ? $0.verdict : nil }
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

    private static func unknown(_ question: OCSPQuestion, _ why: String) -> VerificationFailure {
        VerificationFailure(.revocationUnknown, "Whether \(question.name) was revoked is not known: \(why).")
    }

    private func note(_ verdict: Verdict, _ question: OCSPQuestion, until: Timestamp) {
        state.withLock { state in
            if state.known[question] == nil, state.known.count >= capacity,
                let first = state.known.min(by: { $0.value.until < $1.value.until })
            {
                state.known[first.key] = nil
            }
            state.known[question] = (verdict, until)
        }
    }
}
