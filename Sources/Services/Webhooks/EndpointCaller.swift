package import Base
package import HTTPKit
package import NIOSSL

/// Posts to endpoints, each within a time, and only to addresses that may be called (``AllowedAddresses``).
package final class EndpointCaller: Sendable {
    /// How long and how much.
    package struct Limits: Sendable {
        /// Until there is a connection to one address.
        package var connect: Duration
        /// From looking up the name to the end of the answer.
        package var total: Duration
        /// Of an answer's body, in bytes; what is beyond is not kept.
        package var bytes: Int
        /// For how long a name is not looked up again. What is called meanwhile is an address that was checked.
        package var nameAge: Duration

        /// Limits; by default 5 s, 15 s, 4 KiB and 30 s.
        package init(
            connect: Duration = .seconds(5), total: Duration = .seconds(15), bytes: Int = 4 << 10,
            nameAge: Duration = .seconds(30)
        ) {
            self.connect = connect
            self.total = total
            self.bytes = bytes
            self.nameAge = nameAge
        }
    }

    private let client: OutboundClient
    private let bytes: Int

    /// A caller of its own connections; ``shutdown()`` closes them.
    /// - Parameter roots: certificates that are trusted beside the system's.
    package init(
        _ policy: AddressPolicy, resolver: any AddressResolver, roots: [NIOSSLCertificate] = [],
        limits: Limits = Limits()
    ) {
        client = OutboundClient(
            to: .checked(by: policy, resolver, nameAge: limits.nameAge), roots: roots,
            limits: OutboundClient.Limits(connect: limits.connect, total: limits.total, connections: 256))
        bytes = limits.bytes
    }

    /// Closes its connections; afterwards nothing can be posted.
    package func shutdown() async { await client.shutdown() }

    /// Posts a body as JSON. Once the head of an answer is there it counts, whatever becomes of its body. A post that is lost because the
    /// endpoint closes a connection that it had kept is made again at once (``OutboundRequest/isRepeatable``): receivers know a repeat by
    /// its `webhook-id`.
    package func post(
        _ body: String, to url: String, of endpointID: Int64, headers: [(name: String, value: String)]
    ) async -> CallOutcome {
        var request = OutboundRequest(
            "POST", url,
            headers: [("Content-Type", "application/json"), ("User-Agent", Release.userAgent)] + headers,
            body: Array(body.utf8))
        request.answerBody = .beginning(upTo: bytes)
        request.owner = endpointID
        request.isRepeatable = true
        do throws(OutboundFault) {
            let answer = try await client.send(request)
            return .answered(
                status: answer.status, retryAfter: answer.header("Retry-After").map { String($0.prefix(100)) },
                answer: AnswerText.cleaned(answer.body))
        } catch {
            return .failed(CallFault(error))
        }
    }
}

extension CallFault {
    fileprivate init(_ fault: OutboundFault) {
        self =
            switch fault {
            case .refused(let refusal): .refused(refusal)
            case .notConnected, .unreachable: .notConnected
            case .handshake, .tls: .tls
            case .disconnected, .tooLong: .disconnected
            case .timeout, .cancelled: .timeout
            }
    }
}
