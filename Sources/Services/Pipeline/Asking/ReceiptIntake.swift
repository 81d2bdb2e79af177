import AppStorePayloads
package import AppStoreServerAPI
package import AppStoreVerification
package import AppleRecords
package import Base
import EvidenceStore
package import Subscriptions

/// Takes an old receipt that somebody hands in: who vouches for it, what Apple says of its purchases, and what is stored of that.
///
/// An id out of a receipt asks Apple and proves nothing. That whoever hands it in holds its purchases is proven by the receipt's
/// own signature, or by verifyReceipt's status 0. Any other receipt is not stored and nothing may be given for it; that its ids
/// were asked for tells what Apple signs of those purchases, and not whose they are.
///
/// A signature vouches for what is read in the receipt here. Status 0 vouches for what Apple's own reader found in it, which is what
/// its answer lists: nothing says that this one reads the same in a receipt whose signature it cannot check.
///
/// With a Server API key the purchases are asked for there: what comes back is signed and takes the way of all evidence. Without
/// one verifyReceipt's answer is all there is. It is kept whole, and what it says of each transaction is stored beside it as evidence
/// of its own kind, which gives way to all that Apple signs. With a key it never is: whether there is one is decided here, once, so
/// that what is stored says what counts.
package struct ReceiptIntake: Sendable {
    /// What asks about one app.
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

    /// Who vouches for a receipt.
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
        /// Who vouches for it; nil where nobody does, and nothing may be given for it.
        package var proof: Proof?
        /// Why nobody does.
        package var refusal: ReceiptRefusal?
        /// The purchases that are proven, by transaction ids: none where nobody vouches for the receipt, whatever it lists.
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

    /// A receipt that was looked at: who vouches for it, and what there is to keep of it.
    struct Looked {
        var receipt: Receipt
        var app: App?
        var report: Report
        /// The receipt, and verifyReceipt's answer to it.
        var evidence: [Evidence]
        /// verifyReceipt's answer, where it was asked and gave one.
        var answer: ReceiptAnswer?
        /// What the receipt is known by once it is proven: SHA-256 of what is signed in it; where Apple alone vouches, of what that
        /// has read. The bytes around it anybody can write in another way.
        var identity: Fingerprint {
            switch report.proof {
            case .verifyReceipt(let answer): answer.reading
            case .signature, nil: Fingerprint(of: receipt.signedContent ?? evidence[0].bytes)
            }
        }
        /// What the answer says, where that is what state is derived from.
        var words: [UnsignedWord] = []
        /// The app, and where the answer was given.
        var scope: AppEnvironment
    }

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
    ///   - bundleID: the app, for a receipt of iOS 6, which does not say it; the only one there is unless told.
    /// - Throws: ``ReceiptRefusal`` for a receipt that proves nothing, or proves nothing yet, where there is nobody to ask about its ids,
    ///   and for another app's; `AppStoreFailure` or ``AnswerTrouble`` where Apple's servers were needed and gave no proof or no answer,
    ///   and never for a receipt that Apple signed; `PostgresError`; `CancellationError`.
    package func take(
        _ bytes: [UInt8], from source: EvidenceSource, of bundleID: String? = nil
    ) async throws -> Report {
        var looked = try await look(at: bytes, from: source, of: bundleID, until: nil)
        if looked.report.proof != nil {
            (looked.report.outboxIDs, looked.report.words) = try await history.store(
                receipt: looked.evidence, knownBy: looked.identity.bytes, saying: looked.words, of: looked.scope)
        }
        if let server = looked.app?.server {
            let ids =
                looked.report.proof == nil ? looked.receipt.transactionIds : looked.report.transactionIDs
            try await ask(server, about: ids, in: looked.receipt.contents?.environment, &looked.report)
        }
        return looked.report
    }

    /// Finds out who vouches for a receipt, and what verifyReceipt says where it has to be asked.
    /// - Parameter deadline: when nobody waits any longer for verifyReceipt, or for what responders say of certificates.
    /// - Throws: as ``take(_:from:of:)``; ``AnswerTrouble/late``.
    func look(
        at bytes: [UInt8], from source: EvidenceSource, of bundleID: String?, until deadline: ContinuousClock.Instant?
    ) async throws -> Looked {
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
            // Whose it says it is decides whom it is held against; that it may be genuine changes nothing.
            let isForeign = error.code == .wrongBundle || error.code == .wrongEnvironment
            if isForeign || app?.server == nil && app?.receipts == nil { throw error }
        }
        var words: [UnsignedWord] = []
        var taken: ReceiptAnswer?
        var scope = AppEnvironment(bundleID: report.bundleID, environment: "")
        if let receipts = app?.receipts, report.proof == nil || app?.server == nil {
            do {
                let asked = try await withDeadline(deadline) { try await receipts.ask(receipt.base64) }
                guard let answer = asked else { throw AnswerTrouble.late }
                guard answer.json.count <= EvidenceKind.receipt.maximumSize else {
                    // The receipt is genuine: what is wrong is not with whoever handed it in.
                    throw AnswerTrouble.tooLong
                }
                report.take(answer)
                taken = answer
                // In the same commit: an answer without its question says nothing.
                evidence.append(Evidence(.receipt, from: .api, answer.json))
                if app?.server == nil {
                    scope.environment = answer.environment.rawValue
                    words = answer.extracts.compactMap { UnsignedWord($0) }
                }
            } catch  where report.proof != nil && AnswerTrouble.isTrouble(error) {
                // Its signature is enough.
                report.trouble = AnswerTrouble.line(error)
            }
        }
        return Looked(
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
                // What has not come by then is not known: that is what verifying says once more.
                _ = try? await withDeadline(deadline) { await settleRevocation() }
                return try verifier.verify(receipt)
            }
        } catch {
            throw ReceiptRefusal(error)
        }
    }

    /// Asks for all these purchases. What is not answered just now is asked by a worker, if the receipt is proven: anybody can make
    /// one up. A proven receipt is stored by then, and whoever handed it in is told so, whatever goes wrong here.
    ///
    /// - Parameter said: the environment that the receipt says, for one that nobody vouches for.
    private func ask(
        _ server: AppStoreClient, about ids: [String], in said: Environment?, _ report: inout Report
    ) async throws {
        let said = report.proof?.environment ?? said
        let environment = said.flatMap { verifier.configuration.environments.contains($0) ? $0 : nil }
        // Nobody answers for a developer's machine, now or later.
        if let environment, environment != .production, environment != .sandbox { return }
        let outcome = try await RefreshRound(PurchaseRefresh(history, server, priority: .interactive)).ask(
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
        if let trouble = outcome.trouble { report.trouble = AnswerTrouble.line(trouble) }
    }
}

extension UnsignedWord {
    /// Nil for what is longer than evidence may be: no transaction is.
    fileprivate init?(_ extract: ReceiptExtract) {
        let kind: EvidenceKind
        let id: String
        let date: Timestamp
        switch extract.content {
        case .transaction(let transaction):
            (kind, id, date) = (.receiptTransaction, transaction.transactionId, transaction.signedDate)
        case .renewal(let renewal):
            (kind, id, date) = (.receiptRenewal, renewal.originalTransactionId, renewal.signedDate)
        }
        guard extract.json.count <= kind.maximumSize else { return nil }
        self.init(
            Evidence(kind, from: .api, extract.json), of: id, answeredAt: date,
            saying: Fingerprint(of: extract.saying).bytes)
    }
}
