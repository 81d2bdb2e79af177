import Foundation
import Glibc
import Synchronization

/// A program that is started again whenever it ends, as systemd or Kubernetes would.
final class SupervisedProgram: Sendable {
    private struct State {
        var process: Process?
        var starts = 0
        var isStopping = false
    }
    private let state = Mutex(State())
    private let executable: URL
    private let arguments: [String]
    private let environment: [String: String]
    private let log: FileHandle

    /// Starts it.
    /// - Parameter log: where its output goes.
    init(_ executable: URL, _ arguments: [String], environment: [String: String], log: FileHandle) throws {
        self.executable = executable
        self.arguments = arguments
        self.environment = environment
        self.log = log
        try start()
    }

    /// Its process id now; nil between two lives.
    var id: Int32? { state.withLock { $0.process.flatMap { $0.isRunning ? $0.processIdentifier : nil } } }

    /// How often it was started.
    var starts: Int { state.withLock(\.starts) }

    /// Sends it a signal.
    func signal(_ signal: Int32) { if let id { kill(id, signal) } }

    /// Ends it for good: first with this signal, then by force.
    func stop(asking signal: Int32 = SIGTERM) async {
        let process = state.withLock { state in
            state.isStopping = true
            return state.process
        }
        guard let process else { return }
        // A stopped process hears nothing.
        kill(process.processIdentifier, SIGCONT)
        kill(process.processIdentifier, signal)
        // Also when the run is being interrupted.
        await Task {
            let end = ContinuousClock.now + .seconds(20)
            while process.isRunning {
                if ContinuousClock.now > end { kill(process.processIdentifier, SIGKILL) }
                try? await Task.sleep(for: .milliseconds(20))
            }
        }.value
    }

    private func start() throws {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = log
        process.standardError = log
        process.terminationHandler = { [weak self] _ in
            // A moment between two lives, so that one that cannot live does not take the machine.
            Thread.sleep(forTimeInterval: 0.1)
            guard let self, !self.state.withLock(\.isStopping) else { return }
            try? self.start()
        }
        try state.withLock { state in
            guard !state.isStopping else { return }
            try process.run()
            state.process = process
            state.starts += 1
        }
    }
}
