import AsyncHTTPClient
import Base
import Foundation
import NIOCore
import NIOHTTP1
package import NIOSSL
import Synchronization

/// Calls HTTP servers, each request within a time and up to a length, whatever the other side does.
///
/// TLS is 1.3, or 1.2 where the server has no newer one, and a server that was asked for by its name has to prove the name, see
/// ``ServerName``. Redirects are not followed, because what a request carries is for the server that was named; no proxy is asked; a connection that
/// cannot be made is not tried again, and of requests only those that say so (``OutboundRequest/isRepeatable``). Nothing of a request is logged.
package final class OutboundClient: Sendable {
    /// How long and how many.
    package struct Limits: Sendable {
        /// Until there is a connection to one address: 5 s by default.
        package var connect: Duration
        /// From looking up the name to the end of the answer: 30 s by default.
        package var total: Duration
        /// HTTP/1.1 connections to one server: 8 by default.
        package var connections: Int

        /// Limits.
        package init(connect: Duration = .seconds(5), total: Duration = .seconds(30), connections: Int = 8) {
            self.connect = connect
            self.total = total
            self.connections = connections
        }
    }

    private enum Connections {
        case unchecked(PinnedConnections)
        case checked(PinnedConnections, AddressPolicy, ResolvedNames)
    }

    private let connections: Connections
    private let limits: Limits

    /// A client of its own connections; ``shutdown()`` closes them.
    /// - Parameters:
    ///   - addresses: which addresses it connects to.
    ///   - roots: certificates that are trusted beside the system's.
    package init(
        to addresses: AllowedAddresses = .any, roots: [NIOSSLCertificate] = [], limits: Limits = Limits()
    ) {
        self.limits = limits
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .init(limits.connect)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = limits.connections
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if !roots.isEmpty { tls.additionalTrustRoots = [.certificates(roots)] }
        configuration.tlsConfiguration = tls
        switch addresses {
        case .any: connections = .unchecked(Self.pinnedConnections(configuration, areWatched: false))
        case .checked(let policy, let resolver, let nameAge):
            configuration.connectionPool.idleTimeout = .seconds(30)
            configuration.httpVersion = .http1Only
            connections = .checked(
                Self.pinnedConnections(configuration, areWatched: true), policy,
                ResolvedNames(resolver, age: nameAge))
        }
    }

    private static func pinnedConnections(
        _ configuration: HTTPClient.Configuration, areWatched: Bool
    ) -> PinnedConnections {
        PinnedConnections { pin, onAnswer in
            var configuration = configuration
            if let name = pin.name, let address = pin.address {
                configuration.dnsOverride = [name: address.description]
            }
            let name = pin.isSecure ? pin.name.map(ServerName.init) : nil
            // Named for debugging; they are called on each new connection, and no request is sent before they have succeeded.
            configuration.http1_1ConnectionDebugInitializer = { channel in
                let proof = name?.requireProof(on: channel) ?? channel.eventLoop.makeSucceededVoidFuture()
                return proof.flatMapThrowing {
                    if areWatched { try ExchangeWatch.watch(channel, onAnswer: onAnswer) }
                }
            }
            if let name { configuration.http2ConnectionDebugInitializer = { name.requireProof(on: $0) } }
            return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        }
    }

    /// Closes its connections; afterwards nothing can be sent.
    package func shutdown() async {
        switch connections {
        case .unchecked(let pinned), .checked(let pinned, _, _): await pinned.shutdown()
        }
    }

    /// Sends one request over a connection that is used for nothing else.
    package static func send(
        _ request: OutboundRequest, limits: Limits = Limits()
    ) async throws(OutboundFault) -> OutboundAnswer {
        let client = OutboundClient(limits: limits)
        let result: Result<OutboundAnswer, OutboundFault>
        do { result = .success(try await client.send(request)) } catch { result = .failure(error) }
        await client.shutdown()
        return try result.get()
    }

    /// Sends one request.
    package func send(_ request: OutboundRequest) async throws(OutboundFault) -> OutboundAnswer {
        let head = Head()
        do {
            // Over the body, too: a deadline of the library's alone ends with the head.
            let answer = try await withDeadline(.now + limits.total) { try await self.answer(to: request, head) }
            guard let answer = answer ?? head.answer else { throw OutboundFault.timeout }
            return answer
        } catch {
            if let answer = head.answer { return answer }
            throw OutboundFault(error)
        }
    }

    /// The answer as far as it has come, once its head alone counts.
    private final class Head: Sendable {
        private let state = Mutex<OutboundAnswer?>(nil)
        var answer: OutboundAnswer? { state.withLock(\.self) }
        func come(_ answer: OutboundAnswer) { state.withLock { $0 = answer } }
    }

    private func answer(to request: OutboundRequest, _ head: Head) async throws(OutboundFault) -> OutboundAnswer {
        switch connections {
        case .unchecked(let pinned):
            return try await exchange(
                request, at: request.url, over: Self.pin(of: request.url), of: pinned, isLast: false, head)
        case .checked(let pinned, let policy, let names):
            let url: StrictURL
            do { url = try policy.url(request.url) } catch { throw .refused(error) }
            let (name, addresses) = try await checkedAddresses(of: url, policy, names)
            var fault = OutboundFault.notConnected
            // One address after the other, while there is no connection.
            for pin in pinned.pins(request.owner, name, addresses, isSecure: url.isSecure) {
                do throws(OutboundFault) {
                    return try await exchange(request, at: url.description, over: pin, of: pinned, head)
                } catch {
                    fault = error
                }
                guard fault.isWithoutConnection, !Task.isCancelled else { break }
            }
            // The name may have moved.
            if let name, fault.isWithoutConnection { names.forget(name) }
            throw fault
        }
    }

    /// The name that a URL asks for, read as the HTTP library reads it, which resolves it by itself.
    private static func pin(of url: String) -> PinnedConnections.Pin {
        let parts = URL(string: url)
        let host = parts?.host.map { $0.hasPrefix("[") ? String($0.dropFirst().dropLast()) : $0 } ?? ""
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        return PinnedConnections.Pin(
            owner: 0, name: isAddress ? nil : host, address: nil, isSecure: parts?.scheme?.lowercased() == "https")
    }

    /// The name to ask for, if the URL has one, and the addresses that may be connected to.
    private func checkedAddresses(
        of url: StrictURL, _ policy: AddressPolicy, _ names: ResolvedNames
    ) async throws(OutboundFault) -> (String?, [NetworkAddress]) {
        switch url.host {
        case .address(let address): return (nil, [address])
        case .name(let name):
            guard let resolved = await names.addresses(of: name) else { throw .cancelled }
            do { return (name, try policy.addresses(resolved)) } catch { throw .refused(error) }
        }
    }

    /// Makes the request at one address. A request that is lost to the close of a kept connection is made once more, over a connection of
    /// its own: the server may have closed other kept connections as well.
    private func exchange(
        _ request: OutboundRequest, at url: String, over pin: PinnedConnections.Pin, of pinned: PinnedConnections,
        _ head: Head
    ) async throws(OutboundFault) -> OutboundAnswer {
        try await pinned.use(pin) { client throws(OutboundFault) in
            let turn = await pinned.turn(over: pin)
            if turn != .own {
                var isLost = false
                defer { pinned.end(turn, over: pin, isLost: isLost) }
                do {
                    return try await exchange(request, at: url, isLast: false, client, head)
                } catch {
                    isLost = Self.isLostToClose(error)
                    guard isLost, request.isRepeatable, !Task.isCancelled else { throw OutboundFault(error) }
                }
            }
            return try await exchange(request, at: url, over: pin.unkept, of: pinned, isLast: true, head)
        }
    }

    private func exchange(
        _ request: OutboundRequest, at url: String, over pin: PinnedConnections.Pin, of pinned: PinnedConnections,
        isLast: Bool, _ head: Head
    ) async throws(OutboundFault) -> OutboundAnswer {
        try await pinned.use(pin) { client throws(OutboundFault) in
            do {
                return try await exchange(request, at: url, isLast: isLast, client, head)
            } catch {
                throw OutboundFault(error)
            }
        }
    }

    /// Whether a request met the end of a kept connection, or found that it had ended: see ``ExchangeWatch``.
    private static func isLostToClose(_ error: any Error) -> Bool {
        switch error {
        case is KeptConnectionEnded, ChannelError.ioOnClosedChannel: true
        case let error as HTTPClientError: error == .remoteConnectionClosed
        default: false
        }
    }

    /// - Parameter isLast: whether its connection carries no further request.
    private func exchange(
        _ request: OutboundRequest, at url: String, isLast: Bool, _ client: HTTPClient, _ head: Head
    ) async throws -> OutboundAnswer {
        var message = HTTPClientRequest(url: url)
        message.method = HTTPMethod(rawValue: request.method)
        for header in request.headers { message.headers.add(name: header.name, value: header.value) }
        if isLast { message.headers.replaceOrAdd(name: "Connection", value: "close") }
        if let body = request.body { message.body = .bytes(ByteBuffer(bytes: body)) }
        let response = try await client.execute(message, timeout: .init(limits.total))
        let status = Int(response.status.code)
        switch request.answerBody {
        case .whole(let most):
            let body = try await response.body.collect(upTo: most)
            return OutboundAnswer(status: status, headers: response.headers, body: Array(body.readableBytesView))
        case .ignored(let most), .beginning(let most):
            var answer = OutboundAnswer(status: status, headers: response.headers)
            head.come(answer)
            var count = 0
            do {
                for try await part in response.body {
                    if case .beginning = request.answerBody, count < most {
                        var kept = answer.body
                        kept.append(contentsOf: part.readableBytesView.prefix(most - count))
                        answer = OutboundAnswer(status: status, headers: response.headers, body: kept)
                        head.come(answer)
                    }
                    count += part.readableBytes
                    if count > most { break }
                }
            } catch {}
            return answer
        }
    }
}
