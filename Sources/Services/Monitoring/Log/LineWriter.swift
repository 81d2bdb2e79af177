import Dispatch
import Foundation
import Glibc
import Synchronization

/// Writes lines to a descriptor, in their order, without ever making a caller wait for the reader.
///
/// A line is handed to the kernel at once where the descriptor takes it at once. Otherwise it waits in memory, and a thread of the
/// writer's own writes it. Lines that find no room there are dropped and counted. Nothing more is taken then until half of the room
/// is free again, so that a slow reader gets stretches of whole log and not every tenth line; a line in between says how many are
/// missing. Lines that the kernel refuses, because the other end is closed or the disk is full, are dropped as well, and the next lines
/// are tried all the same.
package final class LineWriter: Sendable {
    /// Whole lines that follow each other, and how many are missing before them.
    private struct Stretch {
        var missing: Int
        var bytes: [UInt8] = []
    }

    private struct State {
        /// What waits, the oldest first.
        var stretches: [Stretch] = []
        /// How many bytes wait, those included that the thread holds and has not written yet.
        var count = 0
        /// Whether the thread holds nothing, and waits.
        var isThreadIdle = true
        /// Whether lines are dropped for want of room.
        var isFull = false
        /// Whether the descriptor took nothing the last time.
        var isBroken = false
        /// Whether to try to write without waiting: the kernel has not said that it cannot do that here.
        var triesAtOnce = true
        var dropped = 0
        /// Of them, those that are missing behind all that waits.
        var missing = 0
    }

    private let descriptor: Int32
    private let room: Int
    private let note: @Sendable (_ dropped: Int) -> String
    private let state = Mutex(State())
    private let work = DispatchSemaphore(value: 0)

    /// What a pipe takes in one piece (PIPE_BUF, pipe(7)): other writers' lines do not come between.
    private static let piece = 4096

    /// A writer with a thread of its own, which ends with the process. From now on the process ignores SIGPIPE.
    /// - Parameters:
    ///   - room: how many bytes may wait; a MiB by default.
    ///   - note: a line that says how many were dropped, with its line's end.
    package init(
        to descriptor: Int32, room: Int = 1 << 20, note: @escaping @Sendable (_ dropped: Int) -> String
    ) {
        self.descriptor = descriptor
        self.room = room
        self.note = note
        // Otherwise a write to a pipe without a reader would end the process.
        signal(SIGPIPE, SIG_IGN)
        Thread.detachNewThread { [self] in run() }
    }

    /// How many lines were dropped.
    package var dropped: Int { state.withLock(\.dropped) }

    /// Writes one or more whole lines, or sees to it that they are written.
    package func write(_ lines: String) {
        var lines = lines
        let wakes = lines.withUTF8 { bytes in state.withLock { take(bytes, &$0) } }
        if wakes { work.signal() }
    }

    /// Waits until all is written, and no longer than so long.
    /// - Returns: whether it is.
    @discardableResult
    package func flush(within limit: Duration) -> Bool {
        let end = ContinuousClock.now + limit
        while state.withLock({ !$0.isThreadIdle || $0.isFull }) {
            guard ContinuousClock.now < end else { return false }
            usleep(1000)
        }
        return true
    }

    /// - Returns: whether the thread has to be woken.
    private func take(_ bytes: UnsafeBufferPointer<UInt8>, _ state: inout State) -> Bool {
        let goesOn = state.isFull && state.count <= room / 2
        if goesOn { state.isFull = false }
        guard !state.isFull, state.count + bytes.count <= room else {
            state.isFull = true
            let lines = Self.lines(in: bytes)
            state.dropped += lines
            state.missing += lines
            return wakes(&state)
        }
        if goesOn || state.stretches.isEmpty {
            let isNext = state.isThreadIdle && state.stretches.isEmpty && state.missing == 0
            let written = isNext && state.triesAtOnce && !state.isBroken ? writeAtOnce(bytes, &state) : 0
            guard written < bytes.count else { return false }
            state.stretches.append(Stretch(missing: state.missing, bytes: Array(bytes.dropFirst(written))))
            state.missing = 0
            state.count += bytes.count - written
        } else {
            state.stretches[state.stretches.count - 1].bytes.append(contentsOf: bytes)
            state.count += bytes.count
        }
        return wakes(&state)
    }

    private func wakes(_ state: inout State) -> Bool {
        defer { state.isThreadIdle = false }
        return state.isThreadIdle
    }

    private typealias VectorWrite = @convention(c) (Int32, UnsafePointer<iovec>, Int32, Int, Int32) -> Int
    /// pwritev2(2), which the headers as Swift reads them leave out.
    private static let vectorWrite = dlsym(nil, "pwritev2").map { unsafeBitCast($0, to: VectorWrite.self) }

    /// Hands to the kernel what it takes without waiting, whatever the descriptor's own flags: those are shared with other processes.
    private func writeAtOnce(_ bytes: UnsafeBufferPointer<UInt8>, _ state: inout State) -> Int {
        guard let vectorWrite = Self.vectorWrite else { return 0 }
        var part = iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
        // At the position that the descriptor has; RWF_NOWAIT.
        let written = vectorWrite(descriptor, &part, 1, -1, 0x8)
        if written < 0, errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL { state.triesAtOnce = false }
        return max(written, 0)
    }

    private static func lines(in bytes: some Sequence<UInt8>) -> Int {
        bytes.reduce(into: 0) { if $1 == UInt8(ascii: "\n") { $0 += 1 } }
    }

    // MARK: the thread

    private func run() {
        while true {
            if let stretch = next() { put(stretch) } else { work.wait() }
        }
    }

    /// What is to be written next; nil where nothing is.
    private func next() -> Stretch? {
        state.withLock { state in
            if !state.stretches.isEmpty { return state.stretches.removeFirst() }
            if state.isFull {
                // All is written that was there when the room was used up.
                state.isFull = false
                defer { state.missing = 0 }
                return Stretch(missing: state.missing)
            }
            state.isThreadIdle = true
            return nil
        }
    }

    private func put(_ stretch: Stretch) {
        let note = stretch.missing > 0 ? Array(self.note(stretch.missing).utf8) : []
        guard write(note) == note.count else {
            return lose(stretch.missing, Self.lines(in: stretch.bytes), stretch.bytes.count)
        }
        let written = write(stretch.bytes, counted: true)
        if written < stretch.bytes.count {
            lose(0, Self.lines(in: stretch.bytes[written...]), stretch.bytes.count - written)
        }
    }

    /// - Parameters:
    ///   - missing: how many lines were missing before, and nothing has said so.
    ///   - count: how many bytes the lines have.
    private func lose(_ missing: Int, _ lines: Int, _ count: Int) {
        state.withLock { state in
            state.isBroken = true
            state.count -= count
            state.dropped += lines
            if state.stretches.isEmpty {
                state.missing += missing + lines
            } else {
                state.stretches[0].missing += missing + lines
            }
        }
    }

    /// Writes bytes, however long that takes.
    /// - Returns: how many were written; fewer than all where the descriptor takes none.
    private func write(_ bytes: [UInt8], counted: Bool = false) -> Int {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = Self.part(of: rest)
            let written = part.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
                state.withLock { state in
                    state.isBroken = false
                    if counted { state.count -= written }
                }
            } else if errno == EAGAIN {
                waitUntilWritable()
            } else if errno != EINTR {
                break
            }
        }
        return bytes.count - rest.count
    }

    /// The first lines, as many as fit in one piece; of a longer line its beginning.
    private static func part(of lines: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let most = lines.prefix(piece)
        guard most.count < lines.count, let end = most.lastIndex(of: UInt8(ascii: "\n")) else { return most }
        return lines[...end]
    }

    /// Others may have made the descriptor one that does not wait.
    private func waitUntilWritable() {
        var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = Glibc.poll(&poll, 1, 1000)
    }
}
