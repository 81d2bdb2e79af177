import AsyncHTTPClient
package import Base
import NIOCore
import NIOPosix
import NIOSSL

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Why a request has no answer.
package enum OutboundFault: Error, Sendable, Hashable {
    /// The URL, or an address that its name resolves to, is not allowed: nothing was sent.
    case refused(AddressRefusal)
    /// There was no connection: nothing was sent.
    case notConnected
    /// The network gave up. That may also end a connection that was in use, so something may have been sent.
    case unreachable
    /// The TLS handshake failed, or the certificate is not trusted for the name: nothing was sent.
    case handshake
    /// TLS failed, perhaps on a connection that was in use: something may have been sent.
    case tls
    /// The connection ended without a whole answer, or what came was no HTTP.
    case disconnected
    /// The answer took too long.
    case timeout
    /// The answer's body is longer than what is read.
    case tooLong
    /// The caller's task was cancelled.
    case cancelled

    /// Whether another address of the same name may still be tried.
    var isWithoutConnection: Bool { self == .notConnected || self == .unreachable }

    /// What an error of the HTTP library says of the request. TLS reports its errors alike during the handshake and on a connection
    /// that is in use; only those of the handshake are sure to say that nothing was sent.
    package init(_ error: any Error) {
        self =
            switch error {
            case let error as OutboundFault: error
            case is CancellationError: .cancelled
            case is NIOTooManyBytesError: .tooLong
            case let error as HTTPClientError:
                switch error {
                case .connectTimeout, .getConnectionFromPoolTimeout: .notConnected
                case .tlsHandshakeTimeout: .handshake
                case .deadlineExceeded, .readTimeout, .writeTimeout: .timeout
                case .cancelled: .cancelled
                default: .disconnected
                }
            case is NIOConnectionError, is SocketAddressError: .notConnected
            case let error as NIOSSLError:
                switch error {
                case .handshakeFailed, .noCertificateToValidate, .unableToValidateCertificate: .handshake
                default: .tls
                }
            case let error as NIOSSLExtraError:
                error == .failedToValidateHostname || error == .serverHostnameImpossibleToMatch ? .handshake : .tls
            case is ChannelError: .unreachable
            case let error as IOError:
                switch error.errnoCode {
                case ECONNREFUSED: .notConnected
                case EHOSTUNREACH, ENETUNREACH, ETIMEDOUT: .unreachable
                default: .disconnected
                }
            default: .disconnected
            }
    }
}
