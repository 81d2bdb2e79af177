import AppStorePayloads
package import AppStoreServerAPI
package import AppStoreVerification
package import AppleRecords
package import Base
import EvidenceStore
package import Subscriptions

/// Takes an old receipt that an app or an operator hands in: what proves it, what Apple says of its purchases, and what is stored of
/// that.
///
/// Two things prove that the holder of a receipt holds its purchases:
/// - the receipt's own signature, for what is read in the receipt here;
/// - verifyReceipt's status 0, for what Apple lists in its answer. Nothing says that this reader finds the same in a receipt whose
///   signature it cannot check.
///
/// Any other receipt is not stored, and nothing may be given for it. Apple can be asked about its ids: the answer says
/// what Apple signs of those purchases, not which account they belong to.
///
/// What is asked depends on the app's keys, and is decided here alone:
/// - With a Server API key the purchases are asked for there: what comes back is signed and takes the way of all evidence.
/// - Without one verifyReceipt's answer is kept whole, and what it says of each transaction is stored beside it as evidence of its own
///   kind, which gives way to all that Apple signs.
package struct ReceiptIntake: Sendable {
    /// An app, and the clients that ask about it.
    package struct App: Sendable {
        /// The app.
        package let bundleID: String
        /// Asks the Server API; nil where there is no key.
        package let server: AppStoreClient?
        /// Asks verifyReceipt; nil where there is no shared secret.
        package let receipts: ReceiptClient?

        /// An app with what it is asked about by.
        package init(_ bundleID: String, server: AppStoreClient?, receipts: ReceiptClient?) {
            self.bundleID = bundleID
            self.server = server
            self.receipts = receipts
        }
    }

    /// What proves a receipt.
    package enum Proof: Sendable {
        /// Apple signed it.
        case signature(VerifiedReceipt)
        /// Apple's server says that it is genuine.
        case verifyReceipt(ReceiptAnswer)

        /// In one word.
        package var name: String {
            switch self {
            case .signature: "signature"
            case .verifyReceipt: "verify_receipt"
            }
        }

        /// Where the purchases were made.
        package var environment: Environment {
            switch self {
            case .signature(let receipt): receipt.environment
            case .verifyReceipt(let answer): answer.environment
            }
        }
    }

    /// What became of a receipt.
    package struct Report: Sendable {
        /// The app.
        package var bundleID: String
        /// What proves it; nil where nothing does, and nothing may be given for it.
        package var proof: Proof?
        /// Why nothing does.
        package var refusal: ReceiptRefusal?
        /// The purchases that are proven, by transaction ids: none of an unproven receipt, whatever it lists.
        package var transactionIDs: [String] = []
        /// The outbox's row of the receipt, and of verifyReceipt's answer where it was asked.
        package var outboxIDs: [Int64] = []
        /// How much of what verifyReceipt's answer says was stored as evidence to derive state from: what it had not said before, and
        /// Apple has not signed, and nothing where there is a Server API key.
        package var words = 0
        /// What the Server API gave, where it was asked.
        package var refreshes: [PurchaseRefresh.Report] = []
        /// How many purchases are to be asked for later, because Apple did not answer now.
        package var queued = 0
        /// What went wrong with asking about a receipt that is proven all the same, in one line.
        package var trouble: String?

        /// Takes verifyReceipt's word: the proof if there is no better, and what was bought since the receipt was made.
        fileprivate mutating func take(_ answer: ReceiptAnswer) {
            if proof == nil {
                proof = .verifyReceipt(answer)
                refusal = nil
            }
            let known = Set(transactionIDs)
            transactionIDs += answer.transactionIds.filter { !known.contains($0) }
        }
    }

    /// How often the Server API is asked about one receipt. One customer's history is one question; a device may have had several.
    static let mostRefreshes = 5

    let verifier: Verifier
    private let apps: [String: App]
    let history: History
    private let settleRevocation: (@Sendable () async -> Void)?

    /// - Parameters:
    ///   - apps: those that something can be asked about; a receipt that is signed is taken of every app served.
    ///   - settleRevocation: asks the responders that the verifier wants to hear, where revocation is checked.
    package init(
        _ verifier: Verifier, apps: [App], history: History,
        settleRevocation: (@Sendable () async -> Void)? = nil
    ) {
        self.verifier = verifier
        self.apps = Dictionary(apps.map { ($0.bundleID, $0) }) { first, _ in first }
        self.history = history
        self.settleRevocation = settleRevocation
    }

    /// Takes a receipt.
    ///
    /// - Parameters:
    ///   - bytes: as the app has it, in base64 or as bytes.
    ///   - bundleID: the app, for a receipt of iOS 6, which does not say it; by default the only one there is.
    /// - Throws: ``ReceiptRefusal`` for a receipt that proves nothing, or proves nothing yet, where its ids cannot be asked about,
    ///   and for another app's; `AppStoreFailure` or ``UnusableAnswer`` where Apple's servers were needed and gave no proof or no answer,
    ///   and never for a receipt that Apple signed; `PostgresError`; `CancellationError`.
    package func take(
        _ bytes: [UInt8], from source: EvidenceSource, of bundleID: String? = nil
    ) async throws -> Report {
        var examined = try await verify(bytes, from: source, of: bundleID, until: nil)
        if examined.report.proof != nil {
            (examined.report.outboxIDs, examined.report.words) = try await history.store(
                receipt: examined.evidence, knownBy: examined.identity.bytes, saying: examined.words, of: examined.scope
            )
        }
        if let server = examined.app?.server {
            let ids =
                examined.report.proof == nil ? examined.receipt.transactionIds : examined.report.transactionIDs
            try await ask(server, about: ids, in: examined.receipt.contents?.environment, &examined.report)
        }
        return examined.report
    }

    /// Finds out what proves a receipt, and what verifyReceipt says where it has to be asked.
    /// - Parameter deadline: when verifyReceipt, and the responders that speak about certificates, are waited for no longer.
    /// - Throws: as ``take(_:from:of:)``; ``UnusableAnswer/late``.
    func verify(
        _ bytes: [UInt8], from source: EvidenceSource, of bundleID: String?, until deadline: ContinuousClock.Instant?
    ) async throws -> ExaminedReceipt {
        let receipt: Receipt
        do throws(ReceiptFault) {
            receipt = try Receipt(bytes)
        } catch {
            throw ReceiptRefusal(.malformed, "The receipt cannot be read: \(error).")
        }
        let named = receipt.contents?.bundleId ?? bundleID ?? (apps.count == 1 ? apps.keys.first : nil)
        let app = named.flatMap { apps[$0] }
        var report = Report(bundleID: named ?? "")
        var evidence = [Evidence(.receipt, from: source, bytes)]
        do throws(ReceiptRefusal) {
            report.proof = .signature(try await signature(of: receipt, until: deadline))
            report.transactionIDs = receipt.transactionIds
        } catch {
            report.refusal = error
            // A receipt of another app or environment is refused whatever else may prove it.
            let isForeign = error.code == .wrongBundle || error.code == .wrongEnvironment
            if isForeign || app?.server == nil && app?.receipts == nil { throw error }
        }
        var words: [UnsignedReceiptClaim] = []
        var taken: ReceiptAnswer?
        var scope = AppEnvironment(bundleID: report.bundleID, environment: "")
        if let receipts = app?.receipts, report.proof == nil || app?.server == nil {
            do {
                let asked = try await withDeadline(deadline) { try await receipts.ask(receipt.base64) }
                guard let answer = asked else { throw UnusableAnswer.late }
                guard answer.json.count <= EvidenceKind.receipt.maximumSize else {
                    // The receipt is genuine: the caller has made no mistake.
                    throw UnusableAnswer.tooLong
                }
                report.take(answer)
                taken = answer
                // In the same commit: an answer without its question says nothing.
                evidence.append(Evidence(.receipt, from: .api, answer.json))
                if app?.server == nil {
                    scope.environment = answer.environment.rawValue
                    words = answer.extracts.compactMap { UnsignedReceiptClaim($0) }
                }
            } catch  where report.proof != nil && UnusableAnswer.isReason(for: error) {
                // Its signature is enough.
                report.trouble = UnusableAnswer.line(error)
            }
        }
        return ExaminedReceipt(
            receipt: receipt, app: app, report: report, evidence: evidence, answer: taken, words: words, scope: scope)
    }

    private func signature(
        of receipt: Receipt, until deadline: ContinuousClock.Instant?
    ) async throws(ReceiptRefusal) -> VerifiedReceipt {
        do throws(VerificationFailure) {
            do throws(VerificationFailure) {
                return try verifier.verify(receipt)
            } catch {
                guard error.code == .revocationUnknown, let settleRevocation else { throw error }
                // Where no responder has answered by then, verifying says once more that it is not known.
                _ = try? await withDeadline(deadline) { await settleRevocation() }
                return try verifier.verify(receipt)
            }
        } catch {
            throw ReceiptRefusal(error)
        }
    }

    /// Asks for all these purchases. If the receipt is proven, a worker asks again for those without an answer now; an
    /// unproven one may be made up. A proven receipt is stored by then and reported as such, also if this fails.
    ///
    /// - Parameter said: the environment that the receipt says, for an unproven one.
    private func ask(
        _ server: AppStoreClient, about ids: [String], in said: Environment?, _ report: inout Report
    ) async throws {
        let said = report.proof?.environment ?? said
        let environment = said.flatMap { verifier.configuration.environments.contains($0) ? $0 : nil }
        // Apple answers nothing about a developer's machine, now or later.
        if let environment, environment != .production, environment != .sandbox { return }
        let outcome = try await PurchaseRefresh(history, server, priority: .interactive).run(
            about: ids, in: environment, atMost: Self.mostRefreshes)
        report.refreshes = outcome.refreshes
        guard !outcome.open.isEmpty else { return }
        guard let environment, report.proof != nil else {
            if let trouble = outcome.trouble { throw trouble }
            return
        }
        try await history.queueRefreshes(
            of: outcome.open, in: AppEnvironment(bundleID: report.bundleID, environment: environment.rawValue))
        report.queued = outcome.open.count
        if let trouble = outcome.trouble { report.trouble = UnusableAnswer.line(trouble) }
    }
}

extension UnsignedReceiptClaim {
    /// Nil for what is longer than evidence may be: no transaction is.
    fileprivate init?(_ extract: ReceiptExtract) {
        let kind: EvidenceKind
        let id: String
        let date: Timestamp
        var end: Timestamp?
        switch extract.content {
        case .transaction(let transaction):
            (kind, id, date) = (.receiptTransaction, transaction.transactionId, transaction.signedDate)
        case .renewal(let renewal):
            (kind, id, date) = (.receiptRenewal, renewal.originalTransactionId, renewal.signedDate)
            end = renewal.renewalDate
        }
        guard extract.json.count <= kind.maximumSize else { return nil }
        self.init(
            Evidence(kind, from: .api, extract.json), of: id, answeredAt: date, periodEndsAt: end,
            saying: Fingerprint(of: extract.saying).bytes)
    }
}
