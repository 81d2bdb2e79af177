import AccountAPI
import ArgumentParser

struct DemoToken: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Sign an app's token for the account API that deploy/run has started.",
        discussion: """
            With the key in the file, which is made if it is not there, and beside it its public half as a JWKS, which the account API
            reads (STOREHOOK_JWT_KEYS). A reader of the file can be any customer: it is for trying storehook out.

            Example: storehook demo token alice --key .storehook/jwt-key.pem
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The account: 1 to 200 printable ASCII characters without spaces.") var account: String?
    @Option(
        help: "The file of the key, PEM; its JWKS stands beside it. By default beside the JWKS of STOREHOOK_JWT_KEYS."
    )
    var key: String?
    @Option(help: "For how many hours it is good.") var hours: Int64 = 24
    @Option(help: "What it says of the account's role.") var role: String?
    @Flag(help: "Make the key and its JWKS where they are not there, and sign nothing.") var keyOnly = false

    func validate() throws {
        try (1...8760).check(hours, "--hours")
        guard keyOnly != (account != nil) else { throw ValidationError("name an account, or say --key-only") }
        if let account, !Caller.isID(account) {
            throw ValidationError(
                "an account has 1 to 200 printable ASCII characters without spaces, and is neither the nil UUID nor token: and a UUID"
            )
        }
    }

    func run() async throws {
        let settings = try await shared.settings()
        let demoKey = try DemoKey.loadOrMake(file: try key ?? DemoKey.file(of: settings))
        guard let account else { return }
        StandardOutput.line(try await demoKey.token(of: account, hours: hours, role: role, settings))
    }
}
