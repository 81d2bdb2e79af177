import AccountStore
import ArgumentParser
import Operations
import Staff

struct StaffRemove: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a member of the staff, with all of their tokens and their password.",
        discussion: """
            What they did stays on record. Added again, they are another member with another number.

            Example: storehook staff remove kim@example.com
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The member's e-mail address.") var mail: StaffMail
    @OptionGroup var acting: ActingOptions
    @OptionGroup var output: Output

    func run() async throws {
        let member = try await Database.with(try await shared.settings()) {
            try await StaffMembers($0).remove(mail.text, by: try acting.actor(for: .manageStaff))
        }
        guard let member else {
            throw CommandFailure(
                "no member of the staff has the address \(mail.text): storehook staff list has the members")
        }
        output.print(
            CommandAnswer(
                member,
                text:
                    "removed staff \(member.id) (\(member.mail)); none of their tokens is valid any more, and they are logged out"
            ))
    }
}
