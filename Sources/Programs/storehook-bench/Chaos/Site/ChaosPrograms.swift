import ArgumentParser
import AsyncHTTPClient
import Foundation
import Glibc
import NIOCore
import NIOHTTP1
import Simulation

/// The programs of a run, and how they are started.
struct ChaosPrograms: Sendable {
    let authority: SimulatedAuthority
    /// The simulator's certificates, shared with its process.
    let pki: URL
    /// Where the receiver listens on the loopback interface.
    let port: Int
    /// Where its operations routes are.
    let metricsPort: Int
    /// Where their standard error goes.
    var log: FileHandle

    /// - Parameter workplace: a directory of the run's own.
    init(workplace: URL) throws {
        pki = workplace.appending(path: "pki")
        authority = try SimulatedAuthority.loadOrGenerate(in: pki.path)
        port = try Self.freePort()
        metricsPort = try Self.freePort()
        let file = workplace.appending(path: "programs.log").path
        guard FileManager.default.createFile(atPath: file, contents: nil), let log = FileHandle(forWritingAtPath: file)
        else { throw ValidationError("cannot write \(file)") }
        self.log = log
    }

    var url: String { "http://127.0.0.1:\(port)/webhooks/apple" }

    /// - Parameters:
    ///   - command: the command that runs it, with its whole path; empty for none.
    ///   - settings: additional environment variables.
    func supervised(
        _ arguments: [String], _ database: String, by command: [String] = [], with settings: [String: String] = [:]
    ) throws -> SupervisedProgram {
        let program = Self.beside("storehook")
        let all = command + [program.path] + arguments
        return try SupervisedProgram(
            command.first.map { URL(fileURLWithPath: $0) } ?? program, Array(all.dropFirst()),
            environment: environment(database).merging(settings) { _, own in own }, log: log)
    }

    func receiver(_ database: String) throws -> SupervisedProgram {
        try supervised(["receive", "--port", "\(port)", "--metrics-port", "\(metricsPort)"], database)
    }

    /// A worker for which some rows are poison.
    func poisoned(_ arguments: [String], _ database: String) throws -> SupervisedProgram {
        try SupervisedProgram(
            Self.beside("storehook-bench"),
            ["poisoned-worker", "--trusted-root", authority.rootFingerprint, "--lease", "\(ChaosSite.leaseSeconds)"]
                + arguments,
            environment: environment(database), log: log)
    }

    /// Posts simulated notifications through the receiver, as `storehook simulate` does.
    func load(_ notifications: Int, perSecond: Int, seed: Int) throws -> ChaosLoad {
        try ChaosLoad(
            Self.beside("storehook"),
            [
                "simulate", "--to", url, "--notifications", "\(notifications)", "--rate", "\(perSecond)", "--shuffle",
                "--duplicates", "\(ChaosLoad.duplicatePercent)", "--seed", "\(seed)", "--pki", pki.path,
            ], notifications: notifications)
    }

    /// A TEST notification, another one for each number.
    func probe(_ number: Int) throws -> (uuid: UUID, text: String) {
        // Far from the load's lanes, so that it repeats no other notification.
        var subscriber = SimulatedSubscriber(lane: 50_000_000 + number, seed: UInt64.random(in: 0...UInt64.max))
        subscriber.test(at: Milliseconds(Int64(Date().timeIntervalSince1970 * 1000)))
        guard let notification = subscriber.takeNotifications().first, let uuid = UUID(uuidString: notification.uuid)
        else { throw NeverCameAbout(what: "a probe") }
        return (uuid, notification.signed(by: authority))
    }

    /// Whether the receiver says that it can store.
    func receiverIsReady() async -> Bool { await isReady(metricsPort: metricsPort) }

    /// Whether the program with these operations routes says that it can do its work.
    func isReady(metricsPort: Int) async -> Bool { await status(.GET, metricsPort, "readyz", nil) == 200 }

    /// Posts one notification.
    /// - Returns: the answer's status; 0 where none came.
    func post(_ text: String) async -> Int {
        await status(.POST, port, "webhooks/apple", "{\"signedPayload\":\"\(text)\"}")
    }

    private func status(_ method: HTTPMethod, _ port: Int, _ path: String, _ body: String?) async -> Int {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/\(path)")
        request.method = method
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        guard let answer = try? await HTTPClient.shared.execute(request, timeout: .seconds(8)) else { return 0 }
        return Int(answer.status.code)
    }

    /// Runs the program to its end.
    /// - Returns: its exit status and what it printed.
    func run(_ arguments: [String], _ database: String) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = Self.beside("storehook")
        process.arguments = arguments
        process.environment = environment(database)
        let output = Pipe()
        process.standardOutput = output
        process.standardError = log
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }

    func environment(_ database: String) -> [String: String] {
        ProcessInfo.processInfo.environment.merging(
            [
                "DATABASE_URL": database,
                "STOREHOOK_APPS": "\(SimulatedApp.example.bundleId)=\(SimulatedApp.example.appAppleId)",
                "STOREHOOK_TRUSTED_ROOTS": authority.rootFingerprint,
                "STOREHOOK_LEASE_SECONDS": "\(ChaosSite.leaseSeconds)",
                "STOREHOOK_LOG_LEVEL": "info",
                // A client's own address counts as the sender's.
                "STOREHOOK_TRUSTED_PROXIES": "none",
                // As deploy/run has it.
                "SWIFT_BACKTRACE": "threads=crashed,registers=none,images=none,symbolicate=fast",
            ]) { _, own in own }
    }

    static func beside(_ name: String) -> URL {
        URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent(name)
    }

    /// A port that is free now.
    static func freePort() throws -> Int {
        for _ in 0..<50 {
            let port = Int.random(in: 20_000..<32_000)
            let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(socket) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(port).bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let bound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            if bound == 0 { return port }
        }
        throw ValidationError("no port from 20000 to 32000 is free")
    }
}
