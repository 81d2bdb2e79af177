import AccountStore
import ArgumentParser
import Operations
import Staff

struct NotesAdd: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a note about a customer, for colleagues.",
        discussion: """
            It is on record with who wrote it, and is neither changed nor deleted. Erasing the account takes the text.

            Example: storehook notes add user-42 --note "called about the invoice"
            """)

    @OptionGroup var shared: SharedOptions
    @OptionGroup var account: AccountOptions
    @OptionGroup var note: NoteOption
    @OptionGroup var acting: ActingOptions

    func run() async throws {
        let (reference, text) = (account.account, note.note)
        let settings = try await shared.settings()
        let actor = try acting.actor(for: .addNote)
        let added = try await Database.with(settings) { pool in
            try await AccountStore(pool).addNote(
                text, about: try await Database.account(reference, pool, settings), by: actor)
        }
        guard let added else { throw CommandFailure("no account \(reference) is known") }
        account.output.print(CommandAnswer(added: ShownStaffNote(added)))
    }
}
