import Accounts
import AppleRecords
import ArgumentParser
import Operations
import Postgres
import Staff

struct ConsentCommand: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "consent",
        abstract: "Show, record or withdraw a customer's consent to send Apple figures of use.",
        discussion: """
            Apple asks about the use of a purchase when its customer wants the money back, and may be answered only with the
            customer's consent. An account's id is what the app's own tokens call the customer; purchases are found by the
            account's appAccountToken. Where the id is not known, write token: and that token. The latest record counts. Earlier
            ones are kept for STOREHOOK_HISTORY_DAYS, and for good where Apple was sent data under them.

            Example: storehook consent user-42 --grant --text "I agree that Apple is told how I used what I bought."
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The account's id, or token: and its appAccountToken.") var account: AccountReference
    @Flag(help: "Record that the customer agrees.") var grant = false
    @Flag(help: "Record that the customer no longer does.") var withdraw = false
    @Option(help: "What the customer was shown, word for word.") var text: String?
    @OptionGroup var acting: ActingOptions
    @OptionGroup var output: Output

    func validate() throws {
        guard !(grant && withdraw) else { throw ValidationError("say --grant or --withdraw, not both") }
        try account.validate()
        if grant, text?.contains(where: { !$0.isWhitespace }) != true {
            throw ValidationError("--grant needs --text: what the customer has agreed to, word for word")
        }
        guard grant || withdraw || text == nil else { throw ValidationError("--text goes with --grant or --withdraw") }
        guard text.map({ (1...Consents.maximumTextLength).contains($0.unicodeScalars.count) }) ?? true else {
            throw ValidationError("--text takes 1 to \(Consents.maximumTextLength) characters")
        }
    }

    func run() async throws {
        let settings = try await shared.settings()
        let answer = try await Database.with(settings) { pool in
            let account = try await Database.account(account, pool, settings)
            let consents = Consents(pool)
            let recorded: RecordedConsent? =
                grant || withdraw
                ? try await consents.record(
                    account, granted: grant, text: text, by: try acting.actor(for: .recordConsent)) : nil
            return CommandAnswer(account, try await consents.history(of: account), recorded: recorded)
        }
        output.print(answer)
    }
}
