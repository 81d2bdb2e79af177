import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// Standard output, where answers go, and nothing else.
///
/// A command whose answer is lost has failed, whatever it did: a full disk, a closed descriptor. What cannot be written is noted here
/// and dropped, together with all that would follow, so that a command which changes something is not cut off in the middle of its
/// work; ``Program`` then leaves with 1 and a line on standard error. A command that only reports, and at length, calls ``check()`` in between.
///
/// A reader that goes away on purpose (`storehook events list | head`) has what it wants. The command then ends as other programs do:
/// without a word, by SIGPIPE (141 in a shell), or with a line and 1 where it was started with SIGPIPE ignored. It ends with a line and
/// 1, too, where it has changed something: otherwise the change would go unreported. A secret that was not shown is never made current,
/// see ``NewSecret``.
///
/// Each text is handed to the kernel at once, so that a reader behind a pipe has it, and nothing is left to be written at the end.
enum StandardOutput {
    /// Whether a person is reading.
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    private struct State {
        var loss: OutputLoss?
        var isUsed = false
        /// Whether the loss has been reported.
        var isReported = false
    }
    private static let state = Mutex(State())

    /// How long a secret may wait to be taken: it is written within a transaction.
    private static let patience = Duration.seconds(5)

    /// Writes one line.
    static func line(_ text: String) { write(Array((text + "\n").utf8)) }

    /// Writes bytes as they are.
    static func write(_ bytes: [UInt8]) { state.withLock { put(bytes, &$0) } }

    /// Writes a line, and returns when it is where it is going: on the disk, or taken by a pipe or a terminal. The caller reports the
    /// loss.
    /// - Throws: ``OutputLoss``, also when the line is not taken within some seconds.
    static func show(_ text: String) throws(OutputLoss) {
        let loss = state.withLock { state -> OutputLoss? in
            put(Array((text + "\n").utf8), until: .now + patience, &state)
            // Pipes and terminals cannot be synchronized, and need not.
            if state.loss == nil, fsync(STDOUT_FILENO) != 0, ![EINVAL, EROFS, ENOTSUP, ENOSYS].contains(errno) {
                state.loss = OutputLoss(code: errno)
            }
            state.isReported = state.loss != nil
            return state.loss
        }
        if let loss { throw loss }
    }

    /// Ends a command that goes on reporting after its output was lost.
    /// - Throws: ``OutputLoss`` where something was lost, or where the reader of a pipe is gone.
    static func check() throws(OutputLoss) {
        let loss = state.withLock { state -> OutputLoss? in
            var poll = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
            if state.loss == nil, Glibc.poll(&poll, 1, 0) == 1, poll.revents & Int16(POLLERR) != 0 {
                state.loss = OutputLoss(code: EPIPE)
            }
            return state.loss
        }
        if let loss { throw loss }
    }

    /// What was lost, at the program's end; nil for nothing, or what has been reported.
    static func finish() -> OutputLoss? {
        state.withLock { state in
            if state.isUsed, state.loss == nil {
                // Some file systems say only now that they are full. A copy, so that the number is not free for another file.
                let copy = dup(STDOUT_FILENO)
                if copy >= 0, close(copy) != 0, errno != EINTR { state.loss = OutputLoss(code: errno) }
            }
            return state.isReported ? nil : state.loss
        }
    }

    private static func put(_ bytes: [UInt8], until end: ContinuousClock.Instant? = nil, _ state: inout State) {
        guard state.loss == nil else { return }
        state.isUsed = true
        if let code = Descriptor.write(bytes, to: STDOUT_FILENO, until: end) { state.loss = OutputLoss(code: code) }
    }
}

/// That standard output was not written.
struct OutputLoss: Error, Hashable, CustomStringConvertible {
    /// errno(3).
    let code: Int32

    /// Whether it was a pipe whose reader went away.
    var isOfReader: Bool { code == EPIPE }

    /// What the system says.
    var description: String { code == ETIMEDOUT ? "it was not read in time" : String(cString: strerror(code)) }
}
