import ArgumentParser
import Operations
import OrderStore

struct RefundsCancel: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Take a pending request back.",
        discussion: """
            It answers nothing that Apple asks.

            Example: storehook refunds cancel RF-001 --note "the customer changed their mind"
            """)

    @OptionGroup var options: RefundOptions
    @OptionGroup var text: NoteOption

    func run() async throws {
        let note = text.note
        try await options.act { try await $0.cancel($1, note: note, by: $2) }
    }
}
