import Foundation
import Glibc

/// One HTTP/1.1 connection of the load generator: a request goes out whole, its answer comes in whole, then the next.
struct LoadConnection {
    let descriptor: Int32
    /// When the request under way was to be sent; nil: none is.
    private(set) var intended: ContinuousClock.Instant?
    private var request: [UInt8] = []
    private var sent = 0
    private var answer: [UInt8] = []

    /// Connects to the loopback interface.
    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        var yes: Int32 = 1
        setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard connected == 0, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else {
            Glibc.close(descriptor)
            throw NeverCameAbout(what: "a connection to port \(port)")
        }
    }

    func close() { _ = Glibc.close(descriptor) }

    /// What poll(2) is to wait for.
    var events: Int16 { Int16(POLLIN) | (sent < request.count ? Int16(POLLOUT) : 0) }

    /// Sends a request, or as much of it as the socket takes now.
    mutating func begin(_ request: [UInt8], intended: ContinuousClock.Instant) throws {
        self.request = request
        self.intended = intended
        sent = 0
        answer.removeAll(keepingCapacity: true)
        try send()
    }

    /// Goes on sending.
    mutating func send() throws {
        while sent < request.count {
            let count = request.withUnsafeBytes { bytes in
                Glibc.send(
                    descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count < 0 {
                guard errno == EAGAIN || errno == EINTR else { throw gone }
                return
            }
            sent += count
        }
    }

    /// Reads what has come.
    /// - Returns: the answer's status, once it is whole; the connection is free then.
    mutating func receive() throws -> Int? {
        var buffer = [UInt8](repeating: 0, count: 2048)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EAGAIN || errno == EINTR { break }
            guard count > 0 else { throw gone }
            answer.append(contentsOf: buffer[..<count])
            if count < buffer.count { break }
        }
        guard let status = try wholeAnswer() else { return nil }
        intended = nil
        return status
    }

    /// Read byte by byte: what looking at an answer costs is taken from the program that answers, on the same machine.
    private func wholeAnswer() throws -> Int? {
        try answer.withUnsafeBytes { bytes in
            var (lineStart, length) = (0, 0)
            for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") {
                let line = bytes[lineStart..<index]
                lineStart = index + 1
                if line.count <= 1 {
                    guard bytes.count - lineStart >= length else { return nil }
                    return try Self.status(bytes)
                }
                length = Self.contentLength(line) ?? length
            }
            return nil
        }
    }

    /// After `HTTP/1.1 `.
    private static func status(_ bytes: UnsafeRawBufferPointer) throws -> Int {
        let digits = bytes.dropFirst(9).prefix(3)
        guard digits.count == 3, let status = number(digits) else { throw NeverCameAbout(what: "an HTTP answer") }
        return status
    }

    private static let contentLengthName = Array("content-length:".utf8)

    private static func contentLength(_ line: Slice<UnsafeRawBufferPointer>) -> Int? {
        let name = line.prefix(contentLengthName.count)
        // Letters in lower case differ by this bit; nothing else that stands in a header's name does.
        guard name.elementsEqual(contentLengthName, by: { $0 | 0x20 == $1 | 0x20 }) else { return nil }
        return number(line.dropFirst(name.count).filter { $0 > UInt8(ascii: " ") })
    }

    private static func number(_ digits: some Sequence<UInt8>) -> Int? {
        digits.reduce(0) { number, digit in
            guard let number, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit), number < 1 << 40 else {
                return nil
            }
            return number * 10 + Int(digit - UInt8(ascii: "0"))
        }
    }

    private var gone: NeverCameAbout { NeverCameAbout(what: "an answer: the receiver closed the connection") }
}
