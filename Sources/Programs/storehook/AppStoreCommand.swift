import ArgumentParser
import Base
import Foundation
import HTTPKit
import Operations
import ServiceLifecycle
import Simulation
import UnixSignals

struct AppStoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app-store",
        abstract: "A stand-in for Apple's servers, with customers who buy, renew, fail to pay and ask for refunds.",
        discussion: """
            Answers the App Store Server API and verifyReceipt, posts notifications to --notify, and takes under /stand-in what
            a person does on a device or in the shop. Its root is its own (--pki): trust it in tests alone, never in production.
            Prints one line of JSON with everything that a client needs; keys.yaml in the directory of --pki is what
            STOREHOOK_APPLE_KEYS takes, root.cer (DER) and root.pem there are its root.

            Clients of Production are given its address with /production after it, those of Sandbox with /sandbox (productionUrl
            and sandboxUrl in that line). Nothing is signed ahead of the instant at which it is answered or posted.

            It sells, with \(products.prefix) before each name:
            \(products.names)
            A purchase of a subscription may name an offer: \(StandInConfiguration.offers.joined(separator: ", ")).
            GET /stand-in/products lists all of it, with periods and prices.

            POST /stand-in/purchases \(StandInConfiguration.purchase)
            buys; environment is Production or Sandbox. GET /stand-in lists every path with its members and an example.

            GET /stand-in/customers/CUSTOMER is what that customer's device holds: what the customer may use, and, as StoreKit
            hands it to an app at each start, all that is unfinished. POST /stand-in/finish {customer, transactionId} finishes.

            Each start is another shop, with identifiers of its own, unless --seed or --state says otherwise.

            With --state the shop is there again at the next start: customers, purchases, history, posts that are due, its
            clock and its chance. Nothing is lost that was posted or answered, whatever ends it; what was being posted at that
            moment is posted again. Meanwhile life goes on, and is caught up with.

            Example: storehook app-store --notify http://127.0.0.1:8080/webhooks/apple --speed sandbox --customers 50
            """)

    @Option(help: "The address to listen on.") var host = "127.0.0.1"
    @Option(help: "The port; 0 for any free one.") var port = 8090
    @Option(help: "Where notifications are posted.") var notify: String?
    @Option(help: "A directory for its root and its key; made if it is not there.") var pki = "storehook-app-store"
    @Option(help: "How fast customers live: 1 as in life, N times faster, or sandbox.") var speed = "1"
    @Option(help: "How many customers live by themselves.") var customers = 0
    @Option(help: "How many percent of the posts are lost.") var loss = 0.0
    @Option(help: "How many percent of the charges fail.") var failures = 8.0
    @Option(help: "How many percent of the periods a refund is asked for.") var refunds = 3.0
    @Option(help: "How many days its clock is behind at the start; so far it can be put ahead.") var daysBehind: Int64 =
        0
    @Option(help: "Decides everything that is left to chance, identifiers too; another one at each start by default.")
    var seed: UInt64?
    @Option(help: "A file that keeps the shop from one start to the next; made if it is not there.") var state: String?
    @OptionGroup var shared: SharedOptions

    /// What is sold, as the help says it.
    private static let products: (prefix: String, names: String) = {
        let prefix = SimulatedApp.example.bundleId + "."
        let names = StandInConfiguration.products.map { $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : $0 }
        return (prefix, names.joined(separator: ", "))
    }()

    func validate() throws {
        guard chosenSpeed != nil else {
            throw ValidationError("--speed is a whole number from 1 to 1000000, or sandbox")
        }
        for (name, value) in [("--loss", loss), ("--failures", failures), ("--refunds", refunds)] {
            guard (0...100).contains(value) else { throw ValidationError("\(name) goes from 0 to 100 percent") }
        }
        try (0...100_000).check(customers, "--customers")
        try (0...3650).check(daysBehind, "--days-behind")
        try (0...65535).check(port, "--port")
        guard notify.map({ (try? StrictURL($0)) != nil }) ?? true else {
            throw ValidationError("--notify takes a URL, such as http://127.0.0.1:8080/webhooks/apple")
        }
    }

    private var chosenSpeed: StandInConfiguration.Speed? { StandInConfiguration.Speed(speed) }

    func run() async throws {
        let logger = try await shared.settings().programLogger("app-store")
        guard let speed = chosenSpeed else { return }
        let access: StandInAccess
        do {
            access = try StandInAccess(directory: pki, bundleId: SimulatedApp.example.bundleId)
        } catch {
            throw CommandFailure("\(error)")
        }
        let app = SimulatedApp.example
        let configuration = StandInConfiguration(
            app: app, notifyURL: notify, speed: speed, customers: customers, lossPercent: loss,
            failurePercent: failures, refundPercent: refunds, seed: seed ?? StandInConfiguration.anySeed(),
            daysBehind: daysBehind, stateFile: state)
        let (host, state) = (host, state)
        let server = StandInServer(configuration, access: access, host: host, port: port, logger: logger) { port in
            let url = "http://\(host):\(port)"
            let announcement: JSONValue = [
                "appAppleId": app.appAppleId.json, "bundleId": .string(app.bundleId),
                "issuerId": .string(access.issuerId), "keyId": .string(access.keyId),
                "keysFile": .string(access.keysFile), "privateKeyFile": .string(access.privateKeyFile),
                "productionUrl": .string(url + "/production"),
                "rootFingerprint": .string(access.authority.rootFingerprint), "sandboxUrl": .string(url + "/sandbox"),
                "seed": .integer(Int64(clamping: configuration.seed)),
                "sharedSecret": .string(access.sharedSecret), "url": .string(url),
            ]
            // A shop that is kept goes on with the chance in its file.
            let said = state == nil ? announcement : announcement.removing(["seed"])
            StandardOutput.write(said.bytes + [UInt8(ascii: "\n")])
            // Without the announcement no caller could use it.
            if let loss = StandardOutput.finish() {
                Program.leave(after: CommandFailure("standard output could not be written: \(loss)"))
            }
        }
        do {
            try await ServiceGroup(
                configuration: .init(
                    services: [.init(service: server)], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
            ).run()
        } catch let fault as StandInFault {
            throw CommandFailure(fault.description)
        } catch let fault as StandInPortFault {
            let failure = ListenFailure(host: fault.host, port: fault.port, code: fault.code)
            throw CommandFailure("cannot listen on " + PortAdvice(failure, option: "--port").text)
        }
    }
}
