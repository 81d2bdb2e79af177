import Glibc

/// Why a server does not listen where it was told to.
public struct ListenFailure: Error, Sendable, CustomStringConvertible {
    /// The address it was told.
    public let host: String
    /// The port it was told.
    public let port: Int
    /// The system's error number, such as `EADDRINUSE`; nil where the address is none that can be looked up.
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
