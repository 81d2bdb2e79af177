import Glibc

/// A client's connection that breaks the rules, from an address of its own on the loopback interface.
struct StrangerSocket {
    private let descriptor: Int32

    /// Connects; nil where that is refused.
    /// - Parameters:
    ///   - address: the last two numbers of the sender's address, 127.0.x.y.
    ///   - patience: seconds for which a thread waits for anything at all.
    ///   - buffers: bytes that the kernel may keep for it in each direction; as many as it likes where nil.
    init?(to port: Int, from address: (UInt8, UInt8), patience seconds: Int = 1, buffers: Int32? = nil) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var patience = timeval(tv_sec: seconds, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
        }
        if var buffers {
            for option in [SO_RCVBUF, SO_SNDBUF] {
                setsockopt(descriptor, SOL_SOCKET, option, &buffers, socklen_t(MemoryLayout<Int32>.size))
            }
        }
        let isConnected =
            Self.with(Self.loopback(address, port: 0)) { bind(descriptor, $0, $1) } == 0
            && Self.with(Self.loopback((0, 1), port: port)) { connect(descriptor, $0, $1) } == 0
        guard isConnected else {
            Glibc.close(descriptor)
            return nil
        }
    }

    /// Sends all of it; false where the other side does not take it.
    func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Sends as much as is taken now.
    /// - Returns: how much that was; nil where the connection is gone.
    func offer(_ bytes: ArraySlice<UInt8>) -> Int? {
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        let sent = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, flags) }
        return sent >= 0 ? sent : errno == EAGAIN ? 0 : nil
    }

    /// What came, to the first empty line or as far as it came.
    func answer() -> String {
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !text.contains("\r\n\r\n") {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
        return text
    }

    /// Whether the other side has closed it, or says something.
    var isOver: Bool {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK)
    }

    /// Gives it up.
    func close() { Glibc.close(descriptor) }

    private static func loopback(_ address: (UInt8, UInt8), port: Int) -> sockaddr_in {
        var socket = sockaddr_in()
        socket.sin_family = sa_family_t(AF_INET)
        socket.sin_addr.s_addr = (0x7F00_0000 | UInt32(address.0) << 8 | UInt32(address.1)).bigEndian
        socket.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        return socket
    }

    private static func with(_ address: sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
