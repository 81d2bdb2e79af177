import AccountAPI
import AppStoreVerification
import ArgumentParser
import Base
import EventStore
import Foundation
import Postgres
import PurchaseStore
import Simulation
import Subscriptions
import UnixSignals

struct DemoLife: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "life",
        abstract: "Show a customer's life in ten seconds, from a trial to a refund.",
        discussion: """
            Plays one customer against a stand-in, a receiver, a worker and an
            account API that run already, as deploy/run --demo starts them: a trial,
            its conversion, a failed payment, grace, recovery, a refund. Beside each
            step stands what Apple posted, what changed, which events were sent, and
            what GET /v1/account answers. The customer's weeks take three seconds
            each; the clocks and the posts of all others stay as they are. Exits
            with 1 where a step does not come.

            Example: storehook demo life --config .storehook/storehook.env
            """)

    @OptionGroup var shared: SharedOptions
    @Option(help: "The stand-in's URL; STOREHOOK_APPLE_URL by default.") var shop: String?
    @Option(
        help: """
            The account API's URL; by default the first port of this machine from 8081 to 8089 that takes the account's token.
            """)
    var api: String?
    @Option(help: "The file of the key that signs the token; by default beside the JWKS of STOREHOOK_JWT_KEYS.")
    var key: String?
    @Option(help: "The account; a new one by default.") var account: String?
    @Option(help: "How many seconds a week of the customer takes, 2 to 60.") var week: Int64 = 3
    @Option(help: "Give up once a step has not come for so many seconds.") var patience = 20.0
    @OptionGroup var output: Output

    func validate() throws {
        try (2...60).check(week, "--week")
        guard patience > 0, patience <= 86_400 else { throw ValidationError("--patience must be more than 0") }
        if let account, !Caller.isID(account) {
            throw ValidationError("an account has 1 to 200 printable ASCII characters without spaces")
        }
    }

    func run() async throws {
        let settings = try await shared.settings()
        let verifier = try settings.verifier()
        let app = SimulatedApp.example
        guard verifier.apps[app.bundleId] != nil else {
            throw CommandFailure(
                "\(app.bundleId), which the stand-in sells, is not served: add \(app.bundleId)=\(app.appAppleId) to STOREHOOK_APPS",
                status: .usage)
        }
        guard let url = try shop ?? settings.standInURL() else {
            throw CommandFailure(
                "no stand-in is known: start deploy/run --demo and say --config .storehook/storehook.env, or name one by --shop",
                status: .usage)
        }
        // Where both are served, the one that everybody may ask for.
        let environment: Base.Environment = verifier.environments.contains(.production) ? .production : .sandbox
        let name = account ?? "demo-life-" + String(UInt32.random(in: 0x1000_0000 ... .max), radix: 16)
        let file = try key ?? DemoKey.file(of: settings)
        guard let demoKey = try DemoKey.load(file: file) else {
            throw CommandFailure(
                "there is no \(file) to sign a token with: storehook demo token --key-only makes one, or name one by --key",
                status: .usage)
        }
        let token = try await demoKey.token(of: name, hours: 1, settings)
        let door = try await DemoAPI.find(api, token: token, in: environment)
        let policy = try settings.statusPolicy()
        try await Database.with(settings, size: 1) { pool in
            let stage = DemoStage(
                shop: StandInCalls(url: url), api: door, reader: LedgerReader(pool, policy: policy),
                events: EventStore(pool), account: name, environment: environment, week: week,
                patience: .seconds(patience))
            let printer = DemoLifePrinter(isTable: output.isTable)
            try await Self.play(stage, printer)
        }
    }

    /// Plays to the end, or until SIGINT or SIGTERM.
    private static func play(_ stage: DemoStage, _ printer: DemoLifePrinter) async throws {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await stage.play(printer)
                return true
            }
            group.addTask {
                for await _ in signals { break }
                return false
            }
            defer { group.cancelAll() }
            guard try await group.next() == false else { return }
            group.cancelAll()
            guard case .failure = await group.nextResult() else { return }
            throw CommandFailure("stopped by a signal: \(stage.account) renews no more at the shop \(stage.shop.url)")
        }
    }
}
