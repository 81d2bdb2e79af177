import ArgumentParser

struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Acts of staff: actor, time, reason, before and after.",
        discussion: """
            The database adds a row as each act commits, with the hash of the row before. No program's user may change, remove or
            reorder one. Commands name their actor as cli: and a name that is not proven.

            Example: storehook audit list --account user-42
            """,
        subcommands: [AuditList.self, AuditVerify.self, AuditExportCommand.self])
}
