import Base
package import Pipeline

extension PurchaseRefresh.Report {
    /// Whether everything in Apple's answers was Apple's.
    package var isComplete: Bool { refused == 0 }

    fileprivate static let shape = CommandShape<PurchaseRefresh.Report>([
        .init("environment", \.environment.rawValue), .init("answered", \.answered), .init("stored", \.stored),
        .init("refused", \.refused),
    ])

    fileprivate var text: String {
        "\(environment.rawValue): Apple answered with \(answered) signed records, \(stored) were stored and wait for a worker"
            + (refused == 0 ? "" : "; \(refused) more are not Apple's and were not looked at")
    }
}

extension ReceiptIntake.Report {
    /// Whether the receipt is proven, every record in Apple's answers verified, and open questions will be asked again.
    package var isComplete: Bool {
        proof != nil && refreshes.allSatisfy(\.isComplete) && (trouble == nil || queued > 0)
    }
}

extension CommandAnswer {
    /// The result of refreshing a purchase from Apple.
    package init(_ report: PurchaseRefresh.Report) {
        self.init(report, PurchaseRefresh.Report.shape, text: report.text)
    }

    /// The result of handing in an old receipt.
    package init(_ report: ReceiptIntake.Report) {
        var lines: [String] = []
        if let proof = report.proof {
            let vouching = proof.name == "signature" ? "Apple signed it" : "verifyReceipt vouches for it"
            lines.append(
                "\(proof.environment.rawValue): a receipt of \(report.bundleID) with \(report.transactionIDs.count) purchases; \(vouching)"
            )
            lines.append("stored as evidence: row \(report.outboxIDs.map { "\($0)" }.joined(separator: " and "))")
        } else {
            lines.append(
                "this receipt cannot be verified, and is not stored: \(report.refusal?.description ?? "no reason is known")"
            )
            if report.refusal?.isTransient == true { lines.append("that passes: hand it in again later") }
        }
        if report.words > 0 {
            lines.append(
                "\(report.words) unsigned things that verifyReceipt says were stored and wait for a worker")
        }
        lines += report.refreshes.map(\.text)
        if let trouble = report.trouble { lines.append("asking about it went wrong: \(trouble)") }
        if report.queued > 0 { lines.append("\(report.queued) purchases are asked for later, by a worker") }
        self.init(report, Self.receipt, text: lines.joined(separator: "\n"))
    }

    /// - `proof`: `signature` or `verify_receipt`; left out where nothing authenticates the receipt. Then `refusal`
    ///   gives the reason, and `refusal_is_transient` whether a later attempt may succeed.
    /// - `unsigned_stored`: how many unsigned statements of verifyReceipt were stored to derive state from.
    private static let receipt = CommandShape<ReceiptIntake.Report>([
        .init("bundle_id", \.bundleID), .init("environment", \.proof?.environment.rawValue),
        .init("proof", \.proof?.name), .init("refusal", \.refusal?.description),
        .init("refusal_is_transient", \.refusal?.isTransient), .init("transaction_ids", \.transactionIDs),
        .init("outbox_ids", \.outboxIDs), .init("unsigned_stored", \.words),
        .list("refreshes", PurchaseRefresh.Report.shape, \.refreshes), .init("queued", \.queued),
        .init("trouble", \.trouble),
    ])
}
