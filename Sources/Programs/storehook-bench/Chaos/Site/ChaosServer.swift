import Foundation
import Glibc
import Logging
import Postgres

/// The PostgreSQL server of a run, if it is the run's own to stop and to starve.
final class ChaosServer: Sendable {
    private let program: SupervisedProgram?
    /// Where its data lies, alone on a small volume; nil where there is none to be filled.
    let volume: URL?

    /// - Parameters:
    ///   - start: a program that becomes the server; nil where this run did not start the server.
    ///   - volume: a small volume that holds the server's data and nothing else.
    init(start: URL?, volume: URL?, log: FileHandle) throws {
        program = try start.map {
            try SupervisedProgram($0, [], environment: ProcessInfo.processInfo.environment, log: log)
        }
        self.volume = volume
    }

    var isOurs: Bool { program != nil }

    /// Waits until it answers.
    func untilReady() async throws {
        guard isOurs, let url = ProcessInfo.processInfo.environment["DATABASE_URL"] else { return }
        let configuration = try PostgresConfiguration(url: url)
        let logger = Logger(label: "chaos") { _ in SwiftLogNoOpLogHandler() }
        try await patiently("the server answers", within: .seconds(60)) {
            try await PostgresConnection.connect(to: configuration, logger: logger).close()
            return true
        }
    }

    /// Ends it as a power failure would: no checkpoint, no farewell. Its supervisor starts it again.
    func crash() { program?.signal(SIGQUIT) }

    /// Stops every one of its processes where it stands while `body` lasts, as storage that hangs does: connections stay
    /// open, new ones are accepted by the kernel, and nothing is answered.
    func whileStopped(_ body: () async throws -> Void) async throws {
        guard let id = program?.id else { throw NeverCameAbout(what: "a server to stop") }
        kill(id, SIGSTOP)
        // From here on no process starts. One that was just being started is seen in the second pass.
        var stopped: Set<Int32> = []
        defer {
            for child in stopped { kill(child, SIGCONT) }
            kill(id, SIGCONT)
        }
        for _ in 0..<2 {
            for child in ProcessTimes.children(of: id) where stopped.insert(child).inserted { kill(child, SIGSTOP) }
            try await Task.sleep(for: .milliseconds(50))
        }
        try await body()
    }

    /// Ends it for good.
    func stop() async { await program?.stop(asking: SIGINT) }
}
