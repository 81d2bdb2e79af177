import AccountStore
import ArgumentParser
import Operations
import Staff

struct StaffAdd: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a member of the staff, or give one another role or other apps.",
        discussion: """
            With --apps they see what belongs to these apps alone, and act for accounts only where these are all the apps of the catalog. It
            counts at once, also for tokens that they have.

            Example: storehook staff add kim@example.com --role support --apps com.example.app
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The member's e-mail address.") var mail: StaffMail
    @Option(help: "viewer, support or admin.", transform: StaffRole.word) var role: StaffRole
    @Option(help: "The bundle ids of the apps, with commas between them; all apps by default.") var apps: String?
    @OptionGroup var acting: ActingOptions
    @OptionGroup var output: Output

    func validate() throws {
        guard let listed else { return }
        guard (1...100).contains(listed.count), listed.allSatisfy({ (1...255).contains($0.unicodeScalars.count) })
        else {
            throw ValidationError("--apps takes 1 to 100 bundle ids with commas between them")
        }
    }

    private var listed: [String]? {
        apps?.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmingPrefix(while: \.isWhitespace) }
            .map { String($0) }
    }

    func run() async throws {
        let settings = try await shared.settings()
        let served = try settings.apps()
        let strangers = (listed ?? []).filter { served[$0] == nil }
        guard served.isEmpty || strangers.isEmpty else {
            throw CommandFailure(
                "STOREHOOK_APPS does not name \(strangers.joined(separator: ", ")): add it there, or leave it out",
                status: .usage)
        }
        let (member, isNew) = try await Database.with(settings) {
            try await StaffMembers($0).add(mail.text, as: role, of: listed, by: try acting.actor(for: .manageStaff))
        }
        let apps = member.apps.map { "of \($0.joined(separator: ", "))" } ?? "of all apps"
        output.print(
            CommandAnswer(
                member,
                text: """
                    \(isNew ? "added" : "changed") staff \(member.id) (\(member.mail)): \(member.role.rawValue) \(apps)
                    for the console's pages they need a password: storehook staff password \(member.mail)
                    for the admin API they need a token: storehook staff token \(member.mail)
                    """))
    }
}

extension StaffMail: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }
}
