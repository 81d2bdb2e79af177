public import AppStorePayloads
import AppStoreVerification
import Base

/// Reads one answer, and verifies whatever is signed in it.
///
/// A list goes on without what does not verify, so that one bad record never hides the others; each refusal is in ``refused``.
public struct AnswerReader {
    /// The answer's members; none where the answer has no body.
    public let object: JSONObject
    /// What was kept back so far.
    public private(set) var refused: [RefusedRecord] = []

    private let verifier: Verifier
    private let bundleId: String
    private let environment: Environment
    private var count = 0

    /// Reads an answer's body.
    ///
    /// - Parameters:
    ///   - verifier: trusts Apple's roots, and serves the app and environment.
    ///   - bundleId: the app that was asked about.
    ///   - environment: the environment that was asked.
    ///   - mayBeEmpty: whether the call is one whose answer has no body.
    /// - Throws: ``AnswerFault/unreadable(_:)``.
    init(
        _ body: [UInt8], verifier: Verifier, bundleId: String, environment: Environment, mayBeEmpty: Bool
    ) throws(AnswerFault) {
        // Calls without an answer return no body at all, not an empty object. For all others an empty body is an error:
        // it must not pass for the end of a list.
        guard mayBeEmpty || !body.isEmpty else { throw .unreadable("it has no body") }
        let text = body.isEmpty ? Array("{}".utf8) : body
        let document: JSONDocument
        do {
            document = try JSONDocument(text)
        } catch {
            throw .unreadable("it is not JSON that can be relied upon: \(error)")
        }
        guard let object = document.object else { throw .unreadable("it is not a JSON object") }
        self.object = object
        self.verifier = verifier
        self.bundleId = bundleId
        self.environment = environment
    }

    /// A text that the answer must have.
    func required(_ member: TextMember) throws(AnswerFault) -> String {
        guard let text = try text(member), !text.isEmpty else { throw .unreadable("\(member.name) is missing") }
        return text
    }

    /// A text; nil where the answer has none.
    /// - Throws: ``AnswerFault/unreadable(_:)`` where it is longer than the member may be.
    func text(_ member: TextMember) throws(AnswerFault) -> String? {
        guard let text = object.string(member.name) else { return nil }
        guard !member.isExceeded(by: text) else {
            throw .unreadable("\(member.name) is longer than \(member.most) bytes")
        }
        return text
    }

    /// Whether a list has further pages. An unreadable `hasMore` is an error: taken as the end, it would make records
    /// that were never shown pass for held.
    ///
    /// - Parameter list: the page's list, which may be left out on a last page alone.
    func hasMore(after list: StaticString) throws(AnswerFault) -> Bool {
        guard let hasMore = object.bool("hasMore") else { throw .unreadable("hasMore is neither true nor false") }
        guard !hasMore || object.has(list) else { throw .unreadable("hasMore is true, and \(list) is missing") }
        return hasMore
    }

    /// - Throws: ``AnswerFault/unreadable(_:)`` where a list has more records than are taken.
    func require(_ count: Int, upTo most: Int) throws(AnswerFault) {
        guard count <= most else { throw .unreadable("it holds more than \(most) records") }
    }

    // MARK: - The one record that an answer is about

    mutating func transaction(_ jws: String) throws(AnswerFault) -> SignedRecord<TransactionPayload> {
        try one { verifier throws(VerificationFailure) in try verifier.transaction(jws) }
    }

    mutating func appTransaction(_ jws: String) throws(AnswerFault) -> SignedRecord<AppTransactionPayload> {
        try one { verifier throws(VerificationFailure) in try verifier.appTransaction(jws) }
    }

    mutating func requiredNotification(_ jws: String) throws(AnswerFault) -> SignedRecord<VerifiedNotification> {
        try one { verifier throws(VerificationFailure) in try verifier.notification(jws) }
    }

    // MARK: - Records in lists

    /// A list of transactions without those that are refused; an absent list is an empty one.
    mutating func transactions(
        _ name: StaticString
    ) throws(AnswerFault) -> [SignedRecord<TransactionPayload>] {
        guard object.has(name) else { return [] }
        guard let texts = object.strings(name) else { throw .unreadable("\(name) is no list of texts") }
        try require(texts.count, upTo: AnswerBounds.records)
        var records: [SignedRecord<TransactionPayload>] = []
        for jws in texts {
            let record = listed { verifier throws(VerificationFailure) in try verifier.transaction(jws) }
            if let record { records.append(record) }
        }
        return records
    }

    mutating func listedTransaction(_ jws: String) -> SignedRecord<TransactionPayload>? {
        listed { verifier throws(VerificationFailure) in try verifier.transaction(jws) }
    }

    mutating func listedRenewal(
        _ jws: String, beside transaction: TransactionPayload?
    ) -> SignedRecord<RenewalInfoPayload>? {
        listed { verifier throws(VerificationFailure) in try verifier.renewal(jws, beside: transaction) }
    }

    mutating func notification(_ jws: String) -> SignedRecord<VerifiedNotification>? {
        listed { verifier throws(VerificationFailure) in try verifier.notification(jws) }
    }

    private mutating func one<Payload: Sendable>(
        _ verify: (RecordVerifier) throws(VerificationFailure) -> SignedRecord<Payload>
    ) throws(AnswerFault) -> SignedRecord<Payload> {
        guard let record = listed(verify) else {
            throw refused.last.map { .refused($0.failure) } ?? .unreadable("a record is missing")
        }
        return record
    }

    private mutating func listed<Payload: Sendable>(
        _ verify: (RecordVerifier) throws(VerificationFailure) -> SignedRecord<Payload>
    ) -> SignedRecord<Payload>? {
        defer { count += 1 }
        do {
            return try verify(RecordVerifier(verifier: verifier, bundleId: bundleId, environment: environment))
        } catch {
            refused.append(RefusedRecord(index: count, failure: error))
            return nil
        }
    }
}
