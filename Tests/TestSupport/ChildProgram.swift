import Foundation
import Glibc
import Synchronization

/// A program that runs as a child process, its output in files so that it never waits for a reader.
public final class ChildProgram: Sendable {
    /// How a process ended.
    public enum Ending: Sendable, Hashable {
        /// By itself, with a status.
        case exited(Int32)
        /// By a signal.
        case signalled(Int32)
    }

    /// Where a process's standard output goes.
    public enum Output: Sendable {
        /// To a file that the test reads.
        case kept
        /// Nowhere: the descriptor is closed.
        case closed
        /// To this file, which is there.
        case file(String)
        /// To a descriptor of this process.
        case descriptor(Int32)
    }

    private struct State {
        var ending: Ending?
        var waiting: [CheckedContinuation<Ending, Never>] = []
    }

    /// Its process id.
    public let id: Int32
    private let directory: URL
    private let state = Mutex(State())

    /// Starts it.
    /// - Parameters:
    ///   - environment: its whole environment.
    ///   - output: its standard output.
    ///   - errors: its standard error, a descriptor of this process; a file where it is nil.
    ///   - ignoresPipe: whether it ignores SIGPIPE when it starts; this process does so from now on, too.
    public init(
        _ executable: String, _ arguments: [String], environment: [String: String], input: [UInt8] = [],
        output: Output = .kept, errors: Int32? = nil, ignoresPipe: Bool = false
    ) throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "storehook-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try Data(input).write(to: directory.appending(path: "in"))

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, directory.appending(path: "in").path, O_RDONLY, 0)
        for (descriptor, name) in [(Int32(1), "out"), (2, "err")] {
            let flags = O_WRONLY | O_CREAT | O_APPEND
            posix_spawn_file_actions_addopen(&actions, descriptor, directory.appending(path: name).path, flags, 0o600)
        }
        switch output {
        case .kept: break
        case .closed: posix_spawn_file_actions_addclose(&actions, 1)
        case .file(let path): posix_spawn_file_actions_addopen(&actions, 1, path, O_WRONLY, 0)
        case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, 1)
        }
        if let errors { posix_spawn_file_actions_adddup2(&actions, errors, 2) }
        // The test runner may ignore or block signals; the program must not inherit that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        var all = sigset_t()
        sigemptyset(&all)
        for signal in [SIGTERM, SIGINT, SIGHUP] + (ignoresPipe ? [] : [SIGPIPE]) { sigaddset(&all, signal) }
        if ignoresPipe { Glibc.signal(SIGPIPE, SIG_IGN) }
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var child = pid_t()
        let failure = Self.withCStrings([executable] + arguments) { arguments in
            Self.withCStrings(environment.map { "\($0)=\($1)" }) { environment in
                posix_spawn(&child, executable, &actions, &attributes, arguments, environment)
            }
        }
        guard failure == 0 else {
            throw NeverHappened("start of \(executable): \(String(cString: strerror(failure)))")
        }
        id = child
        Thread.detachNewThread { [self] in reap() }
    }

    /// Runs a program to its end.
    /// - Parameter environment: its whole environment; the test's own by default.
    /// - Returns: what it said on standard output.
    /// - Throws: ``NeverHappened`` with the end of what it said, where its status is not 0.
    public static func run(
        _ executable: String, _ arguments: [String],
        environment: [String: String]? = nil, input: [UInt8] = []
    ) async throws -> String {
        let program = try ChildProgram(
            executable, arguments, environment: environment ?? ProcessInfo.processInfo.environment, input: input)
        let ending = await program.end()
        let (output, errors) = (program.output, program.errors)
        await program.discard()
        guard ending == .exited(0) else {
            throw NeverHappened(
                "\(executable) ends well; instead: \(ending)\n\(output.suffix(6000))\n\(errors.suffix(3000))")
        }
        return output
    }

    /// Everything on standard output so far.
    public var output: String { text("out") }
    /// The same, byte for byte.
    public var outputBytes: [UInt8] { bytes("out") }
    /// Everything on standard error so far.
    public var errors: String { text("err") }
    /// How it ended; nil while it runs.
    public var ending: Ending? { state.withLock(\.ending) }

    /// Sends it a signal.
    public func signal(_ signal: Int32) { state.withLock { if $0.ending == nil { _ = kill(id, signal) } } }

    /// The most memory that it has held at once, in MiB.
    public func peakMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        guard let kilobytes = line.flatMap({ Int($0.filter(\.isNumber)) }) else {
            throw NeverHappened("a peak of memory in \(status)")
        }
        return kilobytes / 1024
    }

    /// Stops it where it stands, until it is sent SIGCONT, and returns when all of its threads stand: after the signal they go on for
    /// moments.
    public func pause() async throws {
        signal(SIGSTOP)
        let tasks = URL(filePath: "/proc/\(id)/task")
        try await eventually("it stands still") {
            try FileManager.default.contentsOfDirectory(at: tasks, includingPropertiesForKeys: nil).allSatisfy { task in
                // Behind the name, which stands in parentheses (proc(5)).
                let fields = try String(contentsOf: task.appending(path: "stat"), encoding: .utf8)
                return fields.split(separator: ")").last?.split(separator: " ").first == "T"
            }
        }
    }

    /// Waits for its end.
    @discardableResult
    public func end() async -> Ending {
        await withCheckedContinuation { continuation in
            let ending = state.withLock { state in
                if state.ending == nil { state.waiting.append(continuation) }
                return state.ending
            }
            if let ending { continuation.resume(returning: ending) }
        }
    }

    /// Kills it if it still runs, and removes what it wrote.
    public func discard() async {
        signal(SIGKILL)
        await end()
        try? FileManager.default.removeItem(at: directory)
    }

    private func text(_ name: String) -> String {
        String(decoding: bytes(name), as: UTF8.self)
    }

    private func bytes(_ name: String) -> [UInt8] {
        [UInt8]((try? Data(contentsOf: directory.appending(path: name))) ?? Data())
    }

    private func reap() {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        let ending: Ending = status & 0x7F == 0 ? .exited((status >> 8) & 0xFF) : .signalled(status & 0x7F)
        let waiting = state.withLock { state in
            state.ending = ending
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: ending) }
    }

    private static func withCStrings<T>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> T
    ) -> T {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}
