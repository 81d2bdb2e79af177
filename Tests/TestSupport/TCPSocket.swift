import Foundation
import Glibc

/// A blocking TCP or Unix socket, for tests that need to misbehave byte by byte. Use it within ``onThread(_:)``.
public struct TCPSocket: Sendable {
    /// A system call on the socket failed.
    public struct Failure: Error, CustomStringConvertible {
        /// The call and what the system says about it.
        public let description: String

        init(_ call: String) { description = "\(call): \(String(cString: strerror(errno)))" }
    }

    let descriptor: Int32

    // Close-on-exec everywhere: a child process that inherited a listening socket would keep its port open.
    private static let stream = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)

    /// Connects to a port of this machine; reads give up after `readTimeout` seconds.
    public init(port: Int, readTimeout: Int = 60) throws {
        descriptor = socket(AF_INET, Self.stream, 0)
        guard descriptor >= 0 else { throw Failure("socket") }
        var address = Self.loopback(port: port)
        let outcome = Self.generic(&address) { connect(descriptor, $0, $1) }
        guard outcome == 0 else {
            let failure = Failure("connect")
            Glibc.close(descriptor)
            throw failure
        }
        var limit = timeval(tv_sec: readTimeout, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Connects to a Unix socket.
    init(path: String) throws {
        descriptor = socket(AF_UNIX, Self.stream, 0)
        guard descriptor >= 0 else { throw Failure("socket") }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let outcome = Self.generic(&address) { connect(descriptor, $0, $1) }
        guard outcome == 0 else {
            let failure = Failure("connect")
            Glibc.close(descriptor)
            throw failure
        }
    }

    private init(descriptor: Int32) { self.descriptor = descriptor }

    /// Listens on a port of this machine; 0 for one of the system's choice.
    /// - Parameter host: the last number of the address, 2 for 127.0.0.2.
    public static func listening(port: Int, host: UInt8 = 1) throws -> (socket: TCPSocket, port: Int) {
        let descriptor = socket(AF_INET, stream, 0)
        guard descriptor >= 0 else { throw Failure("socket") }
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = loopback(port: port)
        address.sin_addr.s_addr = (UInt32(0x7f00_0000) | UInt32(host)).bigEndian
        let outcome = generic(&address) { bind(descriptor, $0, $1) }
        guard outcome == 0, listen(descriptor, 128) == 0 else {
            let failure = Failure("listen")
            Glibc.close(descriptor)
            throw failure
        }
        var bound = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &bound) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        return (TCPSocket(descriptor: descriptor), Int(UInt16(bigEndian: bound.sin_port)))
    }

    /// The next connection; nil once ``shutDown()`` was called.
    func accept() -> TCPSocket? {
        let client = Glibc.accept(descriptor, nil, nil)
        guard client >= 0 else { return nil }
        _ = fcntl(client, F_SETFD, FD_CLOEXEC)
        return TCPSocket(descriptor: client)
    }

    /// Sends all of it.
    /// - Throws: ``Failure`` if the other side is gone.
    public func send(_ bytes: some Collection<UInt8>) throws {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { throw Failure("send") }
            rest = rest.dropFirst(sent)
        }
    }

    /// Sends as much as the buffers on the way take now: less than all of it where the other side does not read.
    /// - Returns: how much that was; nil if the other side is gone.
    public func offer(_ bytes: ArraySlice<UInt8>) -> Int? {
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        let sent = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, flags) }
        return sent >= 0 ? sent : errno == EAGAIN ? 0 : nil
    }

    /// Sends text.
    public func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// What has come by now, or comes next; empty at the end of the stream.
    /// - Throws: ``Failure`` if nothing comes for long, or the connection was reset.
    public func receive() throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else { throw Failure("recv") }
        return Array(buffer[..<count])
    }

    /// Everything until the other side closes; a reset ends it as well.
    public func receiveToEnd() -> String {
        var all: [UInt8] = []
        while let bytes = try? receive(), !bytes.isEmpty { all += bytes }
        return String(decoding: all, as: UTF8.self)
    }

    /// Text until `marker` has come.
    /// - Throws: ``Failure``, also when the stream ends before.
    public func receive(until marker: String) throws -> String {
        var all = ""
        while !all.contains(marker) {
            let bytes = try receive()
            guard !bytes.isEmpty else { throw NeverHappened("an answer with \(marker), after \(all.suffix(2000))") }
            all += String(decoding: bytes, as: UTF8.self)
        }
        return all
    }

    /// A request of HTTP/1.1, head and body; nil if the stream ends before, or nothing comes for long.
    public func receiveRequest() -> String? {
        guard var text = try? receive(until: "\r\n\r\n") else { return nil }
        let length = text.lowercased().firstMatch(of: /content-length: ([0-9]+)/).flatMap { Int($0.1) } ?? 0
        while let end = text.range(of: "\r\n\r\n"), text[end.upperBound...].utf8.count < length {
            guard let more = try? receive(), !more.isEmpty else { return nil }
            text += String(decoding: more, as: UTF8.self)
        }
        return text
    }

    /// Lets reads give up after a while; more than nothing.
    func limitReads(to wait: Duration) {
        let microseconds = max(1, Int(wait / .microseconds(1)))
        var limit = timeval(tv_sec: microseconds / 1_000_000, tv_usec: microseconds % 1_000_000)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Gives the socket up, and resets the connection.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        close()
    }

    /// Ends the connection in both directions; blocked reads return.
    public func shutDown() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Gives the socket up.
    public func close() { _ = Glibc.close(descriptor) }

    private static func loopback(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        return address
    }

    private static func generic<Address>(
        _ address: inout Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }
}
