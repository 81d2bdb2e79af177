/// Why a stand-in cannot listen.
public struct StandInPortFault: Error, Sendable, Hashable {
    /// The address to listen on.
    public let host: String
    /// The port to listen on.
    public let port: Int
    /// The system's error number, such as `EADDRINUSE`; nil where the address cannot be looked up.
    public let code: Int32?
}
