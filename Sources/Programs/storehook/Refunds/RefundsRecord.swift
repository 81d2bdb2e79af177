import AppStorePayloads
import ArgumentParser
import Base
import Operations
import OrderStore
import Subscriptions

struct RefundsRecord: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Record that an approved refund was made elsewhere.",
        discussion: """
            The request is processed then, and answers nothing more that Apple asks. A reference outlives the erasure of the account: it names a
            payment, and no person.

            Example: storehook refunds record RF-001 --reference "bank 2026-0131-7" --amount 4990 --at 2026-01-31T12:00:00Z
            """)

    @OptionGroup var options: RefundOptions
    @Option(help: "What the refund is called where it was made, 1 to 100 characters.") var reference: String
    @Option(help: "What was refunded, in thousandths of the currency.") var amount: Int64
    @Option(help: "When it was made, such as 2026-01-31 or 2026-01-31T12:00:00Z.", transform: Timestamp.argument)
    var at: Timestamp

    func validate() throws {
        guard (1...100).contains(reference.unicodeScalars.count), reference.contains(where: { !$0.isWhitespace }),
            reference.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else { throw ValidationError("--reference takes 1 to 100 characters, on one line") }
    }

    func run() async throws {
        let refund = RefundRequest.ElsewhereRefund(reference: reference, amount: amount, at: at)
        try await options.act { try await $0.record($1, refund, by: $2) }
    }
}
