import Foundation
import Glibc
import Synchronization

/// A pipe of one page, as another program's standard error, and its reader: a collector of logs.
public final class LogPipe: Sendable {
    /// What the collector does.
    public enum Collector: String, Sendable, CaseIterable {
        /// It holds the pipe open, which is full, and reads nothing.
        case stuck
        /// It is gone.
        case gone
        /// It reads a hundred bytes a second: less than a line.
        case slow
        /// It reads what comes.
        case prompt
    }

    private struct State {
        var text: [UInt8] = []
        var isClosed = false
    }

    /// The end that is written to.
    public let writing: Int32
    private let reading: Int32
    private let state = Mutex(State())
    /// Held from reading to keeping, so that what two readers get stays in its order.
    private let turn = Mutex(())

    /// Makes the pipe.
    public init(_ collector: Collector) throws {
        var ends: [Int32] = [-1, -1]
        // pipe2(2), which the headers as Swift reads them leave out: programs that other tests start may not inherit an end.
        typealias Make = @convention(c) (UnsafeMutablePointer<Int32>, Int32) -> Int32
        guard let make = dlsym(nil, "pipe2"), unsafeBitCast(make, to: Make.self)(&ends, O_CLOEXEC) == 0 else {
            throw NeverHappened("a pipe")
        }
        (reading, writing) = (ends[0], ends[1])
        // F_SETPIPE_SZ
        _ = fcntl(writing, 1031, 4096)
        switch collector {
        case .stuck: fill()
        case .gone: Glibc.close(reading)
        case .slow: Thread.detachNewThread { [self] in read(100, everySecond: true) }
        case .prompt: read()
        }
    }

    /// All that was read.
    public var text: String { state.withLock { String(decoding: $0.text, as: UTF8.self) } }
    /// How many bytes were read.
    public var count: Int { state.withLock(\.text.count) }

    /// Reads what comes, from now on or a while later.
    public func read(afterMilliseconds delay: UInt32 = 0) {
        Thread.detachNewThread { [self] in
            usleep(delay * 1000)
            read(65_536, everySecond: false)
        }
    }

    /// Closes the end that is written to, as far as this process has it open.
    public func closeWriting() {
        state.withLock { state in
            if !state.isClosed { Glibc.close(writing) }
            state.isClosed = true
        }
    }

    private func fill() {
        let flags = fcntl(writing, F_GETFL)
        _ = fcntl(writing, F_SETFL, flags | O_NONBLOCK)
        let page = [UInt8](repeating: UInt8(ascii: "."), count: 4095) + [UInt8(ascii: "\n")]
        while Glibc.write(writing, page, page.count) > 0 {}
        _ = fcntl(writing, F_SETFL, flags)
    }

    private func read(_ most: Int, everySecond: Bool) {
        var bytes = [UInt8](repeating: 0, count: most)
        while true {
            let count = turn.withLock { _ in
                let count = Glibc.read(reading, &bytes, most)
                if count > 0 { state.withLock { $0.text += bytes[..<count] } }
                return count
            }
            guard count > 0 else { return }
            if everySecond { sleep(1) }
        }
    }
}
