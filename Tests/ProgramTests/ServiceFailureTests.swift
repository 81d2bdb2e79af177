import ArgumentParser
import Foundation
import Glibc
import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import storehook

@Suite("A service that fails", .serialized, .timeLimit(.minutes(5)))
struct ServiceFailureTests {
    private struct Broken: Error {}

    /// Runs another service until it is told to fail.
    private struct Failing: Service {
        let service: any Service
        let cue: AsyncStream<Void>

        func run() async throws {
            try await withThrowingTaskGroup { group in
                group.addTask { try await service.run() }
                group.addTask {
                    for await _ in cue {}
                    throw Broken()
                }
                // Throwing cancels the service itself, and waits for it: it must heed that as well.
                try await group.next()
                throw NeverHappened("the service runs until it is told to fail")
            }
        }
    }

    /// Heeds nothing until it is released.
    private struct Deaf: Service {
        let released: AsyncStream<Void>
        func run() async { await Task { for await _ in released {} }.value }
    }

    /// Fails or returns at once.
    private struct Short: Service {
        let error: (any Error)?
        func run() async throws { if let error { throw error } }
    }

    /// The services of a program, and the ports that it serves.
    private func services(
        _ program: String, _ site: Site, _ files: CertificateFiles
    ) async throws -> (services: ProgramServices, ports: [Int]) {
        let settings = Settings(environment: site.environment())
        let (port, metricsPort) = (try freePort(), try freePort())
        if program == "receive" {
            let command = try Receive.parse([
                "--port", "\(port)", "--metrics-port", "\(metricsPort)", "--tls-certificate", files.certificateFile,
                "--tls-key", files.keyFile,
            ])
            let monitoring = try command.operations.monitoring("receiver", settings)
            let read = try ReceiveSettings(
                settings, tlsCertificate: files.certificateFile, tlsKey: files.keyFile)
            return (try await command.services(read, monitoring, logger: quiet), [port, metricsPort])
        }
        let command = try Work.parse(["--metrics-port", "\(metricsPort)"])
        let monitoring = try command.operations.monitoring("worker", settings)
        return (
            try await command.services(WorkSettings(settings), monitoring, nil, name: "test", logger: quiet),
            [metricsPort]
        )
    }

    /// Ends the stream once a program is ready, or at once.
    private func cue(when ports: [Int]) async throws {
        guard let operations = ports.last else { return }
        try await eventually("it is ready") {
            // By now every port is open, and the database was asked.
            for port in ports { try await onThread { try TCPSocket(port: port).close() } }
            return try await fetch("http://127.0.0.1:\(operations)/readyz").status == 200
        }
    }

    @Test("ends its program, whichever it is, at the start or later, and is named", arguments: ["receive", "work"])
    func anyService(program: String) async throws {
        try await withSite { site in
            try await CertificateFiles.with(try ServerCertificate()) { files in
                let names = try await services(program, site, files).services.members.map(\.name)
                #expect(names.count == (program == "receive" ? 5 : 14), "\(names)")
                for (index, name) in names.enumerated() {
                    for isLate in [false, true] {
                        var (services, ports) = try await services(program, site, files)
                        let (cue, told) = AsyncStream.makeStream(of: Void.self)
                        services.members[index].service = Failing(
                            service: services.members[index].service, cue: cue)
                        let running = Task { [services] in
                            try await services.run(logger: quiet, until: []) { _ in
                                Issue.record("\(name) failed, and another one did not end")
                            }
                        }
                        if isLate {
                            try await eventually("it is under way") {
                                (try? await self.cue(when: ports)) != nil
                            }
                        }
                        told.finish()
                        let failure = await #expect(throws: CommandFailure.self, "\(name)") { try await running.value }
                        #expect(failure?.message == "\(name) has failed: Broken()")
                        #expect(failure?.status == .failed)
                    }
                }
            }
        }
    }

    @Test("ends its program although another one is deaf")
    func deaf() async throws {
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        var services = ProgramServices(endDeadline: .zero)
        services.add("the deaf one", Deaf(released: released))
        services.add("the broken one", Short(error: Broken()))
        let left = Mutex<String?>(nil)
        let failure = await #expect(throws: CommandFailure.self) {
            try await services.run(logger: quiet, until: []) { failure in
                left.withLock { $0 = failure.message }
                release.finish()
            }
        }
        #expect(failure?.message == "the broken one has failed: Broken()")
        #expect(left.withLock(\.self) == failure?.message)
    }

    @Test("by ending without a word ends its program, too")
    func ending() async throws {
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        var services = ProgramServices()
        services.add("the idle one", Short(error: nil))
        services.add("another one", Deaf(released: released))
        release.finish()
        let failure = await #expect(throws: CommandFailure.self) {
            try await services.run(logger: quiet, until: [])
        }
        #expect(failure?.message.hasSuffix(" one has ended by itself") == true)
    }

    @Test("for its port, which is taken, ends the program with 1 and one line that says whose it is and what to do")
    func takenPort() async throws {
        try await withSite { site in
            let (holder, port) = try TCPSocket.listening(port: 0)
            defer { holder.close() }
            let keys = FileManager.default.temporaryDirectory.appending(path: "storehook-\(UUID().uuidString)").path
            defer { try? FileManager.default.removeItem(atPath: keys) }
            for (command, option) in [
                (["receive", "--port", "\(port)"], "--port"),
                (["receive", "--port", "0", "--metrics-port", "\(port)"], "--metrics-port"),
                (["work", "--metrics-port", "\(port)"], "--metrics-port"),
                (["app-store", "--port", "\(port)", "--pki", keys], "--port"),
            ] {
                let program = try site.start(command, ["STOREHOOK_LOG_LEVEL": "error"])
                #expect(await program.end() == .exited(1), "\(command)")
                let said = program.errors
                await program.discard()
                #expect(said.split(separator: "\n").count == 1, "\(said)")
                #expect(said.hasPrefix("storehook: cannot listen on 127.0.0.1:\(port), which is taken by "), "\(said)")
                #expect(said.contains("process \(ProcessInfo.processInfo.processIdentifier): stop it, or "), "\(said)")
                #expect(said.hasSuffix(" \(option)\n"), "\(said)")
            }
        }
    }

    @Test("for two options with the same port says that they are, and does not name itself as a stranger")
    func samePort() async throws {
        try await withSite { site in
            let port = try freePort()
            for host in ["127.0.0.1", "0.0.0.0"] {
                let program = try site.start(
                    ["receive", "--host", host, "--port", "\(port)", "--metrics-port", "\(port)"],
                    ["STOREHOOK_LOG_LEVEL": "error"])
                #expect(await program.end() == .exited(1))
                let said = program.errors
                await program.discard()
                #expect(said.split(separator: "\n").count == 1, "\(said)")
                #expect(
                    said.contains(":\(port), which this command listens on already: --port and --metrics-port"),
                    "\(said)")
                #expect(said.hasSuffix("are the same number, give another to one of them\n"), "\(said)")
            }
        }
    }
}
