import AppStorePayloads
import AppStoreVerification
package import Base
package import Pipeline

/// Whether a certificate's revocation status can be queried, where workers check it.
///
/// Asks the responders of the certificates that signed the latest evidence; before any evidence, Apple's.
package struct RevocationCheck: Sendable {
    /// Apple's responders, all of them at one address.
    package static let apple = "http://ocsp.apple.com/"

    private let headers: [[UInt8]]
    private let roots: Set<Fingerprint>
    private let now: Timestamp
    private let ask: RevocationChecker.Ask
    private let reaches: @Sendable (_ address: String) async -> Bool

    /// A check.
    /// - Parameters:
    ///   - headers: header segments of what was verified last.
    ///   - roots: the roots trusted for anything.
    ///   - ask: posts a request to a responder and returns its answer.
    ///   - reaches: whether anybody answers at an address, whatever it is.
    package init(
        headers: [[UInt8]], roots: Set<Fingerprint>, now: Timestamp, ask: @escaping RevocationChecker.Ask,
        reaches: @escaping @Sendable (_ address: String) async -> Bool
    ) {
        self.headers = headers
        self.roots = roots
        self.now = now
        self.ask = ask
        self.reaches = reaches
    }

    /// The finding where revocation is not checked.
    package static let off = Finding.skipped("revocation", "STOREHOOK_REVOCATION is off: no responder is asked")

    /// Whether each certificate is good; otherwise which responder gave no usable answer, and what to do.
    package func finding() async -> Finding {
        let questions = Set(
            headers.flatMap { (try? CertificateChain(header: $0, trustedRoots: roots))?.revocationQuestions ?? [] })
        guard !questions.isEmpty else {
            return await reaches(Self.apple)
                ? .ok("revocation", "\(Self.apple) can be reached")
                : .failed("revocation", Self.advice("\(Self.apple) cannot be reached"))
        }
        let faults = await withTaskGroup(of: String?.self) { group in
            for question in questions { group.addTask { await fault(question) } }
            return await group.reduce(into: [String]()) { if let fault = $1 { $0.append(fault) } }
        }
        guard faults.isEmpty else { return .failed("revocation", faults.sorted().joined(separator: "; ")) }
        return .ok("revocation", "\(questions.count) certificates were asked about, and none is revoked")
    }

    private func fault(_ question: OCSPRequest) async -> String? {
        for responder in question.responders {
            guard let der = try? await ask(question.request, responder),
                let answer = try? OCSPResponse(der, to: question, at: now)
            else { continue }
            switch answer.status {
            case .good: return nil
            case .revoked: return "a certificate that signed what came was revoked (\(responder))"
            case .unknown: return "\(responder) does not know a certificate that signed what came"
            }
        }
        return Self.advice("no answer that counts from \(question.responders.joined(separator: ", "))")
    }

    private static func advice(_ what: String) -> String {
        "\(what): everything waits as revocation_unknown; let workers reach it over TCP port 80 without a proxy (on Kubernetes: "
            + "NetworkPolicy storehook-revocation), or set STOREHOOK_REVOCATION=off"
    }
}
