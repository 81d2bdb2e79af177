import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A server on a port of this machine that gives the same answer to each request, and keeps the heads of all.
final class LoopbackServer: @unchecked Sendable {
    // The lock guards these.
    private var answer: String
    private var heads: [String] = []
    private let lock = NSLock()
    private let socket: Int32
    /// Where it is reached.
    let port: UInt16

    struct Failure: Error {}

    /// - Parameter answer: the head and body of each answer.
    init(_ answer: String) throws {
        self.answer = answer
        #if canImport(Glibc)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        let socket = Self.made(stream)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket, address, length) == 0 && listen(socket, 8) == 0
                    && getsockname(socket, address, &length) == 0
            }
        }
        guard isBound else { throw Failure() }
        (self.socket, port) = (socket, UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [weak self] in
            while true {
                let connection = accept(socket, nil, nil)
                guard connection >= 0, let self else { return }
                self.serve(connection)
            }
        }
    }

    deinit { close() }

    /// What was asked, in order.
    var requests: [String] { lock.withLock { heads } }

    /// Has each request from now on answered so.
    func set(_ answer: String) { lock.withLock { self.answer = answer } }

    /// Ends it.
    func close() { shutdown(socket, Int32(SHUT_RDWR)) }

    private static func made(_ stream: Int32) -> Int32 {
        #if canImport(Glibc)
            Glibc.socket(AF_INET, stream, 0)
        #elseif canImport(Musl)
            Musl.socket(AF_INET, stream, 0)
        #else
            Darwin.socket(AF_INET, stream, 0)
        #endif
    }

    private func serve(_ connection: Int32) {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !String(decoding: bytes, as: UTF8.self).contains("\r\n\r\n") {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            bytes += buffer.prefix(count)
        }
        let answer = lock.withLock {
            heads.append(String(decoding: bytes, as: UTF8.self))
            return Array(self.answer.utf8)
        }
        _ = send(connection, answer, answer.count, 0)
        shutdown(connection, Int32(SHUT_RDWR))
        #if canImport(Glibc)
            Glibc.close(connection)
        #elseif canImport(Musl)
            Musl.close(connection)
        #else
            Darwin.close(connection)
        #endif
    }
}
