import Monitoring
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// Standard error, where everything goes that is no answer.
///
/// A command waits until its text is read, for people who page through it. A program that serves never waits: see
/// ``becomeOfService(note:)``.
enum StandardError {
    private static let writer = Mutex<LineWriter?>(nil)

    /// How long the end of a program may wait until its last lines are read.
    private static let patience = Duration.seconds(2)

    /// Whether a person is reading.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// How many lines of a program that serves were dropped, because they were not read in time.
    static var dropped: Int { writer.withLock { $0?.dropped ?? 0 } }

    /// From now on no write waits for a reader: a log collector that stands still must not stop a program that serves.
    /// - Parameter note: a line that says how many were dropped, with its line's end.
    static func becomeOfService(note: @escaping @Sendable (_ dropped: Int) -> String) {
        writer.withLock { if $0 == nil { $0 = LineWriter(to: STDERR_FILENO, note: note) } }
    }

    /// Writes one line.
    static func line(_ text: String) { write(text + "\n") }

    /// Writes text as it is; a closed standard error is ignored.
    static func write(_ text: String) {
        if let writer = writer.withLock(\.self) { return writer.write(text) }
        _ = Descriptor.write(Array(text.utf8), to: STDERR_FILENO)
    }

    /// Before the process ends: gives the last lines some time to be read.
    static func flush() { writer.withLock(\.self)?.flush(within: patience) }
}

/// Standard error as a stream that handlers of logs write to.
struct StandardErrorStream: TextOutputStream, Sendable {
    mutating func write(_ text: String) { StandardError.write(text) }
}
