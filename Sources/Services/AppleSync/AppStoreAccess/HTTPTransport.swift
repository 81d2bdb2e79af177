package import AppStoreServerAPI
import Base
import HTTPKit

/// Sends requests to Apple over HTTP/1.1 or 2 and TLS, each within a time and up to a length, whatever the other side does.
///
/// What is tried again, and when, is decided above (`Exchange`).
package struct HTTPTransport: AppStoreTransport {
    /// How long and how much.
    package struct Limits: Sendable {
        /// Until there is a connection.
        package var connect: Duration
        /// From the first byte sent to the last one received.
        package var answer: Duration
        /// The longest body read, in bytes. A page of twenty notifications takes 0.4 MB.
        package var bytes: Int

        /// Limits; by default 5 s, 30 s and 8 MiB.
        package init(connect: Duration = .seconds(5), answer: Duration = .seconds(30), bytes: Int = 8 << 20) {
            self.connect = connect
            self.answer = answer
            self.bytes = bytes
        }
    }

    private let client: OutboundClient
    private let bytes: Int

    /// A transport of its own connections; ``shutdown()`` closes them.
    package init(limits: Limits = Limits()) {
        client = OutboundClient(limits: OutboundClient.Limits(connect: limits.connect, total: limits.answer))
        bytes = limits.bytes
    }

    /// Closes its connections; afterwards nothing can be sent.
    package func shutdown() async { await client.shutdown() }

    /// Sends one request.
    package func send(_ request: TransportRequest) async throws -> TransportAnswer {
        var message = OutboundRequest(request.method.rawValue, request.url, body: request.body)
        if let token = request.token { message.headers.append(("Authorization", token.headerValue)) }
        message.headers += [("Accept", "application/json"), ("User-Agent", Release.userAgent)]
        if request.body != nil { message.headers.append(("Content-Type", "application/json")) }
        message.answerBody = .whole(upTo: bytes)
        do throws(OutboundFault) {
            let answer = try await client.send(message)
            return TransportAnswer(
                status: answer.status, retryAfter: answer.header("Retry-After"), date: answer.header("Date"),
                body: answer.body)
        } catch {
            try Task.checkCancellation()
            throw TransportFault(error)
        }
    }
}

extension TransportFault {
    /// The result of a request to Apple: only one that was certainly never sent counts as not received by Apple.
    init(_ fault: OutboundFault) {
        self =
            switch fault {
            case .refused, .notConnected: .notConnected
            case .handshake: .tls
            case .unreachable, .tls, .disconnected, .cancelled: .disconnected
            case .timeout: .timeout
            case .tooLong: .tooLong
            }
    }
}
