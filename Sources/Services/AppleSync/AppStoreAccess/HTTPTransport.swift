package import AppStoreServerAPI
import AsyncHTTPClient
import Base
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Sends requests to Apple over HTTP/1.1 or 2 and TLS, each within a time and up to a length, whatever the other side does.
///
/// Redirects are not followed: the token is for the host that was asked. Nothing of a request is logged.
package struct HTTPTransport: AppStoreTransport {
    /// How long and how much.
    package struct Limits: Sendable {
        /// Until there is a connection.
        package var connect: Duration
        /// From the first byte sent to the last one received.
        package var answer: Duration
        /// The longest body read, in bytes. A page of twenty notifications takes 0.4 MB.
        package var bytes: Int

        /// Limits: 5 s, 30 s and 8 MiB unless told.
        package init(connect: Duration = .seconds(5), answer: Duration = .seconds(30), bytes: Int = 8 << 20) {
            self.connect = connect
            self.answer = answer
            self.bytes = bytes
        }
    }

    private let client: HTTPClient
    private let limits: Limits

    /// A transport of its own connections; ``shutdown()`` closes them.
    package init(limits: Limits = Limits()) {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .init(limits.connect)
        // The machine above decides what is tried again, and when.
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        self.limits = limits
    }

    /// Closes its connections; afterwards nothing can be sent.
    package func shutdown() async { try? await client.shutdown() }

    /// Sends one request.
    package func send(_ request: TransportRequest) async throws -> TransportAnswer {
        do {
            // Over the body, too: a deadline of the library's alone ends with the head.
            let answer = try await withDeadline(.now + limits.answer) { try await exchange(request) }
            guard let answer else { throw TransportFault.timeout }
            return answer
        } catch let fault as TransportFault {
            throw fault
        } catch {
            try Task.checkCancellation()
            throw Self.fault(error)
        }
    }

    private func exchange(_ request: TransportRequest) async throws -> TransportAnswer {
        var message = HTTPClientRequest(url: request.url)
        message.method = HTTPMethod(rawValue: request.method.rawValue)
        if let token = request.token { message.headers.add(name: "Authorization", value: token.headerValue) }
        message.headers.add(name: "Accept", value: "application/json")
        message.headers.add(name: "User-Agent", value: Release.userAgent)
        if let body = request.body {
            message.headers.add(name: "Content-Type", value: "application/json")
            message.body = .bytes(ByteBuffer(bytes: body))
        }
        let response = try await client.execute(message, timeout: .init(limits.answer))
        let body: ByteBuffer
        do {
            body = try await response.body.collect(upTo: limits.bytes)
        } catch is NIOTooManyBytesError {
            throw TransportFault.tooLong
        }
        return TransportAnswer(
            status: Int(response.status.code), retryAfter: response.headers.first(name: "Retry-After"),
            date: response.headers.first(name: "Date"), body: Array(body.readableBytesView))
    }

    /// What a library's error says of the request. TLS tells of its errors alike while it shakes hands and while a connection
    /// is used: those of the handshake alone say that nothing was sent.
    static func fault(_ error: any Error) -> TransportFault {
        switch error {
        case let error as HTTPClientError:
            switch error {
            case .connectTimeout, .getConnectionFromPoolTimeout: .notConnected
            case .tlsHandshakeTimeout: .tls
            case .deadlineExceeded, .readTimeout, .writeTimeout: .timeout
            default: .disconnected
            }
        case is NIOConnectionError, is SocketAddressError: .notConnected
        case let error as NIOSSLError:
            switch error {
            case .handshakeFailed, .noCertificateToValidate, .unableToValidateCertificate: .tls
            default: .disconnected
            }
        case let error as NIOSSLExtraError
        where error == .failedToValidateHostname || error == .serverHostnameImpossibleToMatch:
            .tls
        case let error as IOError where error.errnoCode == ECONNREFUSED: .notConnected
        default: .disconnected
        }
    }
}

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
