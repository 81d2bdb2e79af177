import Accounts
import AppStoreServerAPI
import AppleRecords
import AppleSync
import ArgumentParser
import EvidenceStore
import Operations
import Pipeline
import Subscriptions

struct RefreshCommand: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh",
        abstract:
            "Ask Apple about a purchase, an account's purchases or those in an old receipt now, and store what it says.",
        discussion: """
            Stores the signed records of Get Transaction History, Get All Subscription Statuses and Get Refund History. They
            take the way of all evidence: a worker verifies and applies them, and storehook subscription names their source.
            Doing it twice changes nothing. Exits with 1 if a record in Apple's answers is not Apple's.

            With --account the purchases are those that the account's appAccountToken stands in or that are bound to it, in every
            environment and app that a key is set for; storehook consent shows the token. Of each
            customer's history Apple is asked once, for ten at the most; a worker asks for the rest. Exits with 1 also where
            there is no such purchase and where Apple cannot be asked about one.

            With --receipt the purchases are those of an old receipt, in base64 or as bytes. It is stored where Apple's signature
            or verifyReceipt vouches for it; otherwise its ids are only asked with, and it exits with 1. With a Server API key its
            purchases are asked about. Where only a shared secret is set, state is derived from verifyReceipt's answer: nobody
            signs that, and it gives way to whatever Apple signs of the same transactions, whatever the dates. Where asking goes
            wrong about a receipt that is proven, it is stored all the same and the trouble printed; the exit is then 1 unless a
            worker asks again.

            Example: storehook refresh 2000000123456789
            Example: storehook refresh --account 7f1de78e-0d4e-4c5e-9d3c-000000000001
            Example: storehook refresh --receipt receipt.txt
            """)

    @OptionGroup var options: AppleOptions
    @Option(help: "A file with an old receipt; - for standard input.") var receipt: String?
    @Option(help: "An account's id, as the app's own tokens call it; or token: and its appAccountToken.")
    var account: AccountReference?
    @Argument(help: "The purchase's original transaction id, or any transaction id of the customer's.")
    var id: String?

    func validate() throws {
        guard [id != nil, receipt != nil, account != nil].count(where: \.self) == 1 else {
            throw ValidationError("say an id, an --account or a --receipt")
        }
        try account?.validate()
        if receipt != nil, options.place != nil {
            throw ValidationError("a receipt says its environment itself; leave --environment out")
        }
    }

    func run() async throws {
        let settings = try await options.shared.settings()
        if let receipt { return try await take(receipt, settings) }
        if let account { return try await refresh(account, settings) }
        guard let id else { return }
        let report = try await Database.with(settings) { pool in
            try await AppleAccess.with(settings, app: options.app, in: options.place) { client, environment in
                try await PurchaseRefresh(History(pool), client, priority: .interactive).run(id, in: environment)
            }
        }
        options.output.print(CommandAnswer(report))
        if !report.isComplete { throw ExitStatus.failed }
    }

    private func refresh(_ account: AccountReference, _ settings: Settings) async throws {
        let access = try AppleAccess(settings)
        let report: AccountRefresh.Report
        do {
            let clients = access.clients()
            guard !clients.scopes.isEmpty else {
                throw CommandFailure(
                    "no Server API key is set, with which alone accounts can be asked about; see STOREHOOK_APPLE_KEYS",
                    status: .usage)
            }
            report = try await Database.with(settings) { pool in
                try await AccountRefresh(History(pool), clients)
                    .run(try await Database.account(account, pool, settings).token, in: options.place, of: options.app)
            }
            await access.shutdown()
        } catch {
            await access.shutdown()
            throw AppleAccess.told(error)
        }
        options.output.print(CommandAnswer(report, of: account.description))
        if !report.isComplete { throw ExitStatus.failed }
    }

    private func take(_ file: String, _ settings: Settings) async throws {
        let bytes = try EvidenceFile.read(file, upTo: EvidenceKind.receipt.maximumSize, isReceipt: true)
        let access = try AppleAccess(settings)
        let report: ReceiptIntake.Report
        do {
            report = try await Database.with(settings) { pool in
                try await access.receipts(pool).take(bytes, from: .operator, of: options.app)
            }
            await access.shutdown()
        } catch {
            await access.shutdown()
            if let refusal = error as? ReceiptRefusal { throw CommandFailure("\(refusal)") }
            throw AppleAccess.told(error)
        }
        options.output.print(CommandAnswer(report))
        if !report.isComplete { throw ExitStatus.failed }
    }
}
