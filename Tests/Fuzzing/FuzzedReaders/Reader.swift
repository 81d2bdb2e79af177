import AppStorePayloads
import AppStoreVerification
import Base
import EvidenceStore
package import Foundation

/// What reads strangers' bytes before a signature has been checked, and what each promises of any input: deploy/fuzz makes
/// inputs up, and a test reads all of the seeds.
package enum Reader: String, CaseIterable, Sendable {
    /// A compact JWS, all of the verifier behind it. The root in its header counts as trusted, so that a genuine seed is
    /// verified to its end.
    case jws
    /// Three certificates, each after its length in two bytes; the third counts as trusted.
    case chain
    /// A payload's JSON text.
    case payload
    /// What is posted to the receiver.
    case body
    /// An old receipt, all of its verification behind it. Whatever certificates it brings count as trusted.
    case receipt
    /// An OCSP responder's answer about the chain that is among the seeds.
    case ocsp
    /// What a sender says on a connection, the handlers of every server of ours behind it. The first byte says in what
    /// pieces it comes.
    case head
    /// The same, after a head that announces chunks.
    case chunks

    /// The directory of its seeds.
    package var seeds: URL { Self.allSeeds.appending(path: rawValue) }

    private static let allSeeds = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .appending(path: "Seeds")

    /// Reads one input. Traps where a reader's promise is broken.
    package func read(_ input: [UInt8]) {
        switch self {
        case .jws: readJWS(input)
        case .chain: readChain(input)
        case .payload: readPayload(input)
        case .body: readBody(input)
        case .receipt: readReceipt(input)
        case .ocsp: readAnswer(input)
        case .head: FuzzedConnection.read(input)
        case .chunks: FuzzedConnection.read(input, after: Self.chunkedHead)
        }
    }

    private func readJWS(_ input: [UInt8]) {
        _ = UnverifiedSummary.read(input)
        pack(input)
        var roots: Set<Fingerprint> = [.appleRootG3]
        if let header = input.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).first,
            let text = Base64.url.decode(Array(header)), let object = try? JSONDocument(text).object,
            let last = object.strings("x5c")?.last, let root = Base64.standard.decode(Array(last.utf8))
        {
            roots.insert(Fingerprint(of: root))
        }
        let verifier = Verifier(
            configuration: VerifierConfiguration(
                apps: [Self.app: 1_234_567_890], environments: [.production, .sandbox, .xcode], trustedRoots: roots),
            clock: { Timestamp(millisecondsSince1970: 1_770_000_000_000) })
        if let verified = try? verifier.verifyNotification(input) {
            precondition(verified.bundleId == Self.app, "a notification of another app was accepted")
            precondition(
                (verified.transaction == nil) == (verified.digests.transaction == nil), "a part without its digest")
            // Found in the cache now: the short way has to say the same.
            precondition((try? verifier.verifyNotification(input)) == verified, "the cache changed the answer")
        }
        for kind in [verifier.isTransaction, verifier.isRenewal, verifier.isAppTransaction] { _ = kind(input) }
    }

    private func readChain(_ input: [UInt8]) {
        let certificates = Self.certificates(input)
        let roots = Set(certificates.last.map { [Fingerprint(of: $0)] } ?? [])
        do throws(VerificationFailure) {
            let chain = try CertificateChain(validating: certificates, trustedRoots: roots)
            precondition(chain.leaf.notBefore <= chain.leaf.notAfter, "a chain with a leaf that never is valid")
            try chain.requireValid(at: Timestamp(millisecondsSince1970: 1_770_000_000_000))
        } catch {
            precondition(!error.message.isEmpty && !error.message.contains("\n"), "a reason is one line")
        }
    }

    private func readPayload(_ input: [UInt8]) {
        if let payload = try? NotificationPayload.decode(input) {
            precondition(payload.json == input, "the text that is kept is the text that was signed")
            precondition(UniqueIdentifier(payload.notificationUUID) == payload.uuid, "a name that is not its value")
        }
        if let payload = try? TransactionPayload.decode(input) {
            precondition(!payload.transactionId.isEmpty, "a transaction without its key")
            let date = payload.signedDate
            precondition(Timestamp(iso8601: date.description) == date, "a date that is not its text")
        }
        if let payload = try? RenewalInfoPayload.decode(input) {
            precondition(!payload.originalTransactionId.isEmpty, "a renewal info without its key")
        }
        if let payload = try? AppTransactionPayload.decode(input) {
            precondition(!payload.bundleId.isEmpty, "an app transaction without its key")
        }
    }

    private func readBody(_ input: [UInt8]) {
        guard let jws = try? PostedBody.signedPayload(in: input) else { return }
        precondition(!jws.isEmpty && jws.count <= input.count, "a JWS that the body cannot hold")
        precondition(!jws.contains(0), "a zero byte")
        _ = UnverifiedSummary.read(jws)
        pack(jws)
    }

    /// What the receiver does with a JWS before it stores it. Its header counts as known, as Apple's is to everybody.
    private func pack(_ jws: [UInt8]) {
        let header = SignatureHeader(
            digest: [UInt8](repeating: 1, count: 32), text: Array(jws.prefix { $0 != UInt8(ascii: ".") }))
        if let packed = PackedBody.pack(jws, knowing: [header]) {
            let unpacked = try? PackedBody.unpack(packed) { $0 == header.digest ? header.text : nil }
            precondition(unpacked == jws, "packed bytes that do not come back")
        }
        // Only the database hands in packed bytes; all the same.
        if let unpacked = try? PackedBody.unpack(jws, { _ in header.text }) {
            precondition(unpacked.count <= Outbox.maximumBodySize, "more than a JWS may be long")
        }
    }

    private func readReceipt(_ input: [UInt8]) {
        guard let receipt = try? Receipt(input) else { return }
        for id in receipt.transactionIds {
            precondition(!id.isEmpty && id.utf8.allSatisfy { (0x30...0x39).contains($0) }, "an id that is no number")
        }
        precondition(Base64.standard.decode(receipt.base64) != nil, "a receipt that verifyReceipt could not read")
        let verifier = Verifier(
            configuration: VerifierConfiguration(
                apps: [Self.app: 1_234_567_890], environments: [.production, .sandbox],
                trustedRoots: Set(receipt.certificates.map { Fingerprint(of: $0) })),
            clock: { Timestamp(millisecondsSince1970: 1_770_000_000_000) })
        do throws(VerificationFailure) {
            let verified = try verifier.verify(receipt)
            precondition(verified.bundleId == Self.app, "a receipt of another app was accepted")
        } catch {
            precondition(!error.message.isEmpty && !error.message.contains("\n"), "a reason is one line")
        }
    }

    private func readAnswer(_ input: [UInt8]) {
        guard let question = Self.seedChain?.revocationQuestions.first else {
            fatalError("\(Self.simulatedChain.path) is no chain")
        }
        do throws(OCSPResponse.Refusal) {
            let now = Timestamp(millisecondsSince1970: 1_770_000_000_000)
            _ = try OCSPResponse(input, to: question, at: now)
            fatalError("nobody has the key to sign an answer")
        } catch {
            precondition(!error.description.isEmpty && !error.description.contains("\n"), "a reason is one line")
        }
    }

    private static let simulatedChain = Reader.chain.seeds.appending(path: "simulated")

    private static let seedChain: CertificateChain? = {
        let file = try? Data(contentsOf: simulatedChain)
        let certificates = Reader.certificates([UInt8](file ?? Data()))
        let roots = Set(certificates.last.map { [Fingerprint(of: $0)] } ?? [])
        return try? CertificateChain(validating: certificates, trustedRoots: roots)
    }()

    private static func certificates(_ input: [UInt8]) -> [[UInt8]] {
        var certificates: [[UInt8]] = []
        var rest = input[...]
        while let high = rest.popFirst(), let low = rest.popFirst() {
            let length = Int(high) << 8 | Int(low)
            certificates.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return certificates
    }

    private static let chunkedHead = "POST /webhooks/apple HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"

    private static let app = "com.example.storehook"
}

extension Verifier {
    fileprivate func isTransaction(_ jws: [UInt8]) -> Bool { (try? verifyTransaction(jws)) != nil }
    fileprivate func isRenewal(_ jws: [UInt8]) -> Bool { (try? verifyRenewal(jws)) != nil }
    fileprivate func isAppTransaction(_ jws: [UInt8]) -> Bool { (try? verifyAppTransaction(jws)) != nil }
}
