import ArgumentParser
import Operations
import OrderStore

struct RefundsReject: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "reject",
        abstract: "Reject a pending request.",
        discussion: """
            For 90 days it answers what Apple asks about the transaction

            Example: storehook refunds reject RF-001 --note " DECLINE, with the customer's consent.:used up before the complaint"
            """)

    @OptionGroup var options: RefundOptions
    @OptionGroup var text: NoteOption

    func run() async throws {
        let note = text.note
        try await options.act { try await $0.reject($1, note: note, by: $2) }
    }
}
