import ArgumentParser

struct RefundsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refunds",
        abstract: "Requests for refunds: the request, the decision, and Apple's refund.",
        discussion: """
            Apple alone moves money. A decision answers what Apple asks about the transaction, with the customer's consent; a refund of
            Apple's ends the request.

            Example: storehook refunds create ORD-20260131-0001 --type full --why "charged twice"
            """,
        subcommands: [
            RefundsList.self, RefundsCreate.self, RefundsApprove.self, RefundsReject.self, RefundsCancel.self,
            RefundsRecord.self,
        ])
}
