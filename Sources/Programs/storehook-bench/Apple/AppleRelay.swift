import Foundation
import Glibc
import Synchronization

/// A way to Apple's servers that can be cut: it passes on, hangs, or refuses.
final class AppleRelay: Sendable {
    /// What it does with connections.
    enum Mode: String, Sendable, CaseIterable {
        /// Passes everything on.
        case answering
        /// Takes connections, and never says anything.
        case hanging
        /// Ends every connection at once.
        case refusing
    }

    private struct State {
        var mode = Mode.answering
        var open: Set<Int32> = []
        var isClosed = false
    }

    let port: Int
    private let target: Int
    private let listener: Int32
    private let state = Mutex(State())

    /// Listens on a port of its own.
    /// - Parameter target: the port on this machine that it passes on to.
    init(to target: Int) throws {
        self.target = target
        port = try ChaosPrograms.freePort()
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.address(port)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard bound == 0, listen(listener, 128) == 0 else { throw NeverCameAbout(what: "a port to pass on from") }
        Thread.detachNewThread { [self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                take(connection)
            }
        }
    }

    /// Changes what it does, and cuts every connection there is.
    func set(_ mode: Mode) {
        state.withLock { state in
            state.mode = mode
            for connection in state.open { shutdown(connection, Int32(SHUT_RDWR)) }
        }
    }

    /// Ends it.
    func stop() {
        state.withLock { $0.isClosed = true }
        shutdown(listener, Int32(SHUT_RDWR))
        set(.refusing)
        close(listener)
    }

    private func take(_ connection: Int32) {
        let mode = state.withLock { state -> Mode in
            if state.mode != .refusing, !state.isClosed { state.open.insert(connection) }
            return state.isClosed ? .refusing : state.mode
        }
        switch mode {
        case .refusing: close(connection)
        case .hanging:
            Thread.detachNewThread { [self] in
                // Until the connection is cut, or the client gives up.
                var byte = [UInt8](repeating: 0, count: 4096)
                while read(connection, &byte, byte.count) > 0 {}
                forget(connection)
            }
        case .answering: Thread.detachNewThread { [self] in passOn(connection) }
        }
    }

    private func passOn(_ connection: Int32) {
        let onward = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.address(target)
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(onward, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else {
            close(onward)
            return forget(connection)
        }
        let back = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            Self.pump(onward, connection)
            back.signal()
        }
        Self.pump(connection, onward)
        back.wait()
        close(onward)
        forget(connection)
    }

    private func forget(_ connection: Int32) {
        // Before the close: afterwards another connection may get the same number, and must not be cut.
        state.withLock { _ = $0.open.remove(connection) }
        close(connection)
    }

    /// Copies until either side ends, and then ends both.
    private static func pump(_ from: Int32, _ to: Int32) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        reading: while true {
            let count = read(from, &buffer, buffer.count)
            guard count > 0 else { break }
            var sent = 0
            while sent < count {
                let written = buffer.withUnsafeBytes { bytes in
                    send(to, bytes.baseAddress?.advanced(by: sent), count - sent, Int32(MSG_NOSIGNAL))
                }
                guard written > 0 else { break reading }
                sent += written
            }
        }
        shutdown(from, Int32(SHUT_RDWR))
        shutdown(to, Int32(SHUT_RDWR))
    }

    private static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
