import Foundation
import Postgres
import TestSupport
import Testing

/// Every program that an app meets, and the example app on devices of its own. Between the app and `storehook serve`, and between the app
/// and its App Store, stands a proxy that cuts and holds.
struct ClientWorld: Sendable {
    /// A device that the app is installed on.
    struct Device: Sendable {
        /// The account that is signed in.
        var account = "alice"
        /// Who uses the App Store there.
        var customer = "alice"
        /// Where the app keeps what it keeps: a folder of this process alone.
        var folder: String
        /// How far its clock is ahead of the machine's, in seconds.
        var clockAhead: TimeInterval = 0
        /// When its output is coloured: `always` or `never`.
        var colour = "never"
        /// How long access goes on after the last known end, in seconds.
        var grace: TimeInterval = 86_400
    }

    static let monthly = "com.example.storehook.basic.monthly"
    static let catalog =
        shopProducts + """

            features:
              - id: scans
                limits: {free: 50 in total, pro: 60 in total, premium: unlimited}
              - id: export
                limits: {free: no, pro: yes, premium: yes}
            """

    let site: Site
    let store: RunningAppStore
    let settings: [String: String]
    /// What the apps send to `storehook serve`.
    let network: RequestProxy
    /// What the devices send to the App Store.
    let device: RequestProxy
    let directory: String

    /// Starts all of it while `body` lasts.
    static func with(_ body: (ClientWorld) async throws -> Void) async throws {
        try await withShop { try await run($0, $1, $2, $3, body) }
    }

    private static func run(
        _ site: Site, _ store: RunningAppStore, _ settings: [String: String], _ directory: String,
        _ body: (ClientWorld) async throws -> Void
    ) async throws {
        // The planner knows nothing of a new database, and would compile each statement.
        try await site.pool.query("alter database \(unescaped: site.database.name) set jit = off")
        try await site.apply(catalog: catalog)
        try await site.with(["work"], settings) { _ in
            try await site.with(["serve", "--port", "0"], settings) { api in
                let network = try RequestProxy(to: try #require(api.port))
                defer { network.stop() }
                let port = try #require(store.url.split(separator: ":").last.flatMap { Int($0) })
                let device = try RequestProxy(to: port)
                defer { device.stop() }
                try await body(
                    ClientWorld(
                        site: site, store: store, settings: settings, network: network, device: device,
                        directory: directory))
                try await site.untilDone()
            }
        }
    }

    /// A device on which the app was never started.
    func device(of customer: String, account: String = "alice") -> Device {
        Device(account: account, customer: customer, folder: "\(directory)/\(UUID().uuidString)")
    }

    /// Starts the app; the caller discards it.
    func launch(_ device: Device, _ commands: [String]) async throws -> ChildProgram {
        let token = try await token(of: device.account)
        return try site.start(
            [
                "--api", "http://127.0.0.1:\(network.port)", "--stand-in", "http://127.0.0.1:\(self.device.port)",
                "--token", token, "--account", device.account, "--customer", device.customer,
                "--environment", "Production", "--folder", device.folder, "--grace", "\(device.grace)",
                "--clock-ahead", "\(device.clockAhead)", "--language", "en", "--color", device.colour,
                "--log", "yes",
            ] + commands, of: Executable.client)
    }

    /// One launch of the app, to its end.
    /// - Returns: what it wrote.
    @discardableResult
    func run(_ device: Device, _ commands: String...) async throws -> ClientOutput {
        try await run(device, commands)
    }

    private func run(_ device: Device, _ commands: [String]) async throws -> ClientOutput {
        let program = try await launch(device, commands)
        let ending = await program.end()
        let output = ClientOutput(text: program.output, errors: program.errors)
        await program.discard()
        #expect(ending == .exited(0), "\(output)")
        return output
    }

    /// Launches the app until it says what is expected: on a machine that has much to do the server may answer 503 for a while.
    @discardableResult
    func run(
        _ device: Device, _ commands: String..., until condition: (ClientOutput) async throws -> Bool
    ) async throws -> ClientOutput {
        var output = ClientOutput(text: "", errors: "")
        do {
            try await eventually("\(commands) says what is expected") {
                output = try await run(device, commands)
                return try await condition(output)
            }
        } catch let error as NeverHappened {
            throw NeverHappened("\(error.what); instead: \(output)")
        }
        return output
    }

    /// Launches the app until the server has answered all that it asks about use.
    func synchronize(_ device: Device) async throws {
        try await run(device, "sync") { !$0.errors.contains("usage: the server has not answered") }
    }

    /// The app at a point where one of the proxies holds it, and then killed there.
    func kill(_ device: Device, _ commands: [String], at proxy: RequestProxy) async throws {
        let program = try await launch(device, commands)
        do {
            try await eventually("the app is held") {
                if let ending = program.ending {
                    throw NeverHappened("it is held; instead: \(ending) \(program.output) \(program.errors)")
                }
                return !proxy.held.isEmpty
            }
            program.signal(SIGKILL)
            #expect(await program.end() == .signalled(SIGKILL))
            await program.discard()
        } catch {
            await program.discard()
            throw error
        }
        proxy.set { _ in .pass }
        proxy.drop()
        try await eventually("nothing is held") { proxy.held.isEmpty }
    }

    /// How often the server has accepted what an app handed in.
    var verifications: Int {
        network.answered.count { $0.line == "POST /v1/subscriptions/verify" && $0.status == 200 }
    }

    /// How many scans of the account's the server has counted, and how many are left by it.
    func scans() async throws -> [String] {
        let curl = Curl(base: "http://127.0.0.1:\(network.port)", token: try await token(of: "alice"))
        let answer = try await curl("/v1/features/scans")
        return [answer.text("used"), answer.text("remaining")]
    }

    /// What the customer's device has not finished: transaction ids are in the signed payloads, so their number counts.
    func unfinished(of customer: String) async throws -> Int {
        let text = try await store.shop("customers/\(customer)")
        let held = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        return (held?["unfinished"] as? [Any])?.count ?? 0
    }

    /// Apple posts nothing from now on: what the server knows it has from apps.
    func silenceApple() async throws { try await store.shop("loss", #"{"rate":100}"#) }

    /// How many purchases the server has, and how many of them it has announced as begun.
    func purchases() async throws -> [Int64] {
        [
            try await site.value("select count(*) from storehook.purchase_lines"),
            try await site.value("select count(*) from storehook.events where kind = 'subscription.started'"),
        ]
    }

    private func token(of account: String) async throws -> String {
        try await site.run("demo", "token", account, with: settings).output.trimmingCharacters(
            in: .whitespacesAndNewlines)
    }
}
