import APIKit
import AccountStore
import Accounts
import AppStorePayloads
import AppStoreVerification
import EvidenceStore
package import Logging
import Pipeline
import PurchaseStore
import Subscriptions

/// One line for each thing that happens to an account, to be found by its appAccountToken or by purchase. Never its id, which may be an
/// e-mail address, and never what was sent: no token of the app's, no payload, no receipt.
package struct AccountLog: Sendable {
    let logger: Logger

    /// A log.
    package init(_ logger: Logger) { self.logger = logger }

    /// A log that writes nothing.
    package static var none: AccountLog {
        AccountLog(Logger(label: "none", factory: { _ in SwiftLogNoOpLogHandler() }))
    }

    /// Writes a line.
    func note(
        _ message: Logger.Message, of caller: Caller, _ metadata: Logger.Metadata, level: Logger.Level = .info
    ) {
        guard logger.logLevel <= level else { return }
        var metadata = metadata
        metadata["app_account_token"] = "\(caller.token)"
        if caller.isServer { metadata["by"] = "server key" }
        if let request = RequestID.current { metadata["request"] = "\(request)" }
        logger.log(level: level, message, metadata: metadata)
    }

    /// A line for each record handed in: how it verified, which account its purchase belongs to, what that gives until
    /// when.
    /// - Parameter catalog: by which products give tiers, where one is at hand.
    func noteHandedIn(
        _ records: [HandedIn], _ answers: [IntakeAnswer], _ outcomes: [PurchaseKey: BindOutcome], by caller: Caller,
        _ catalog: Catalog?
    ) {
        for (record, answer) in zip(records, answers) {
            var metadata: Logger.Metadata = ["kind": "\(record.kind.rawValue)"]
            switch answer {
            case .refused(let code, _):
                metadata["result"] = "\(code.rawValue)"
                note("Refused what was handed in", of: caller, metadata)
            case .undecided(let reason):
                metadata["result"] = "\(reason.rawValue)"
                note("Could not judge what was handed in", of: caller, metadata, level: .warning)
            case .taken(let evidence):
                metadata["result"] = "\(evidence.outcome.rawValue)"
                metadata.merge(Self.metadata(of: evidence, catalog)) { own, _ in own }
                metadata["binding"] = evidence.purchase.flatMap { outcomes[$0] }.map { "\($0.rawValue)" }
                note("Verified what was handed in", of: caller, metadata)
            }
        }
        for (purchase, outcome) in outcomes.sorted(by: { $0.key < $1.key })
        where outcome == .bound || outcome == .transferred {
            note(
                "Bound a purchase", of: caller,
                [
                    "original_transaction_id": "\(purchase.originalTransactionID)",
                    "environment": "\(purchase.environment)", "binding": "\(outcome.rawValue)",
                ])
        }
    }

    private static func metadata(of evidence: TakenEvidence, _ catalog: Catalog?) -> Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        metadata["environment"] = evidence.environment.map { "\($0)" }
        if let purchase = evidence.purchase {
            metadata["original_transaction_id"] = "\(purchase.originalTransactionID)"
        }
        guard let transaction = evidence.transaction else { return metadata }
        if let product = transaction.productId {
            metadata["product"] = "\(product)"
            metadata["tier"] = evidence.bundleID.flatMap { catalog?.product(product, of: $0) }.map { "\($0.tier)" }
        }
        metadata["ends"] = transaction.expiresDate.map { "\($0)" }
        return metadata
    }
}
