import ArgumentParser

struct NotesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notes",
        abstract: "What staff wrote about customers.",
        discussion: """
            Notes stay as they were written, on record, until the account is erased (storehook account erase).

            Example: storehook notes list --account user-42
            """,
        subcommands: [NotesList.self, NotesAdd.self])
}
