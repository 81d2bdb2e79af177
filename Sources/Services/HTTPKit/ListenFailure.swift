import Glibc

/// Why a server cannot listen.
public struct ListenFailure: Error, Sendable, CustomStringConvertible {
    /// The address to listen on.
    public let host: String
    /// The port to listen on.
    public let port: Int
    /// The system's error number, such as `EADDRINUSE`; nil where the address cannot be looked up.
    public let code: Int32?

    /// A failure, by the system's error number.
    public init(host: String, port: Int, code: Int32?) {
        self.host = host
        self.port = port
        self.code = code
    }

    /// One line, as the system says it.
    public var description: String {
        "cannot listen on \(host):\(port): \(code.map { String(cString: strerror($0)) } ?? "no such address")"
    }
}
