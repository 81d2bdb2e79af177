import ArgumentParser
import Operations
import OrderStore

struct RefundsApprove: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Approve a pending request.",
        discussion: """
            For 90 days it answers what Apple asks about the transaction: a full one GRANT_FULL, another GRANT_PRORATED, for Apple decides the
            amount. That takes the customer's consent, which an approval never is. With STOREHOOK_FOUR_EYES=yes another person than the
            requester has to approve.

            Example: storehook refunds approve RF-001 --note "agreed with the customer"
            """)

    @OptionGroup var options: RefundOptions
    @Option(help: "Another amount than the requested one, in thousandths of the currency.") var amount: Int64?
    @Option(help: "A note for colleagues, 1 to 1000 characters.") var note: String?

    func validate() throws { try NoteOption.check(note, "--note") }

    func run() async throws {
        let (amount, note) = (amount, note)
        try await options.act { try await $0.approve($1, amount: amount, note: note, by: $2) }
    }
}
