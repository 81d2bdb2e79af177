import ArgumentParser
import Operations
import OrderStore
import Subscriptions

struct RefundsCreate: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Ask for a refund of one transaction of an order.",
        discussion: """
            Prorated is the price less what is refunded, times the time that is left of the period at the approval. Amounts are in
            thousandths of the transaction's currency: 4990 is 4.99.

            Example: storehook refunds create ORD-20260131-0001 --type partial --amount 4990 --why "half of it was down"
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The order's number, such as ORD-20260131-0001.") var order: String
    @Option(help: "full, partial or prorated.", transform: RefundRequest.Kind.word) var type: RefundRequest.Kind
    @Option(help: "Of a partial one: in thousandths of the currency.") var amount: Int64?
    @Option(help: "Apple's id of the transaction; the latest paid one by default.") var transaction: String?
    @OptionGroup var reason: ReasonOption
    @OptionGroup var acting: ActingOptions
    @OptionGroup var output: Output

    func validate() throws {
        guard (type == .partial) == (amount != nil) else {
            throw ValidationError(
                type == .partial ? "--type partial needs --amount" : "--amount goes with --type partial")
        }
    }

    func run() async throws {
        let settings = try await shared.settings()
        let recorded = try await RefundOptions.explaining {
            try await Database.with(settings) {
                try await RefundRequests($0, rules: try settings.staffRules()).create(
                    type, amount: amount, order: order, transaction: transaction, why: reason.why, by: acting.admin)
            }
        }
        output.print(CommandAnswer(created: ShownRefundRequest(recorded)))
    }
}
