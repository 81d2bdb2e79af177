package import AppStorePayloads
package import AppStoreServerAPI

extension AppleAnswer {
    /// That Apple has taken something that has no answer of its own.
    package init(accepted what: String, from environment: Environment) {
        self.init(environment, [("accepted", "true")], text: "\(what) (\(environment))")
    }

    /// What became of one extension.
    package init(extension answer: ExtendRenewalDateRequest.Answer, request: String, from environment: Environment) {
        self.init(
            environment,
            [
                ("success", "\(answer.success)"), ("request_identifier", Self.quoted(request)),
                ("original_transaction_id", Self.quoted(answer.originalTransactionId)),
                ("web_order_line_item_id", Self.quoted(answer.webOrderLineItemId)),
                ("effective_date", Self.instant(answer.effectiveDate)),
            ], unknown: answer.unknownFields,
            text: Self.lines([
                ("extended", answer.success ? "yes" : "no"),
                ("renews", answer.effectiveDate.map { "\($0)" }), ("subscription", answer.originalTransactionId),
                ("request", request), ("environment", "\(environment)"),
            ]))
    }

    /// That Apple has taken a mass extension on.
    package init(massExtension request: MassExtensionRequest, from environment: Environment) {
        self.init(
            environment,
            [
                ("request_identifier", Self.quoted("\(request.requestIdentifier)")),
                ("product_id", Self.quoted(request.productId)),
            ],
            text: "Apple has taken it on and works through it for hours. Ask how far it is: "
                + "storehook apple extend-all-status \(request.productId) \(request.requestIdentifier)")
    }

    /// How far Apple is with a mass extension.
    package init(massStatus answer: MassExtensionStatusRequest.Answer, from environment: Environment) {
        self.init(
            environment,
            [
                ("complete", "\(answer.complete)"), ("complete_date", Self.instant(answer.completeDate)),
                ("succeeded_count", answer.succeededCount.map { "\($0)" } ?? "null"),
                ("failed_count", answer.failedCount.map { "\($0)" } ?? "null"),
            ], unknown: answer.unknownFields,
            text: Self.lines([
                ("complete", answer.complete ? "yes" : "not yet"), ("at", answer.completeDate.map { "\($0)" }),
                ("extended", answer.succeededCount.map { "\($0)" }), ("failed", answer.failedCount.map { "\($0)" }),
                ("environment", "\(environment)"),
            ]))
    }
}
