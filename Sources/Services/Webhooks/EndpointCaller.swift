import AsyncHTTPClient
import Base
package import Events
import NIOCore
import NIOHTTP1
import NIOPosix
package import NIOSSL
import Synchronization

/// Posts to endpoints, each within a time limit, whatever the other side does, and only to addresses
/// that may be called.
///
/// The name is resolved here and all its addresses are checked. Then the connection is made to one of exactly those
/// addresses, with the name in TLS and in `Host`. The HTTP client never gets a name to resolve, so a later DNS answer
/// cannot redirect it. Redirects are not followed, no proxy is used, and a few kilobytes of an answer are read.
package final class EndpointCaller: Sendable {
    /// Limits of a call.
    package struct Limits: Sendable {
        /// For connecting to one address.
        package var connect: Duration
        /// From looking up the name to the end of the answer.
        package var total: Duration
        /// The most bytes of an answer's body that are read.
        package var bytes: Int
        /// For how long a name is not resolved again. Meanwhile only checked addresses are called.
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

    /// The key of connections: those of one endpoint do not take another's place.
    private struct Pin: Hashable {
        let endpointID: Int64
        let name: String?
        let address: NetworkAddress
    }

    private struct Pinned {
        var client: HTTPClient
        var lastUsed: ContinuousClock.Instant
        var calls = 0
        /// Whether the last call got a connection.
        var isReachable = false
    }

    private let policy: EndpointPolicy
    private let limits: Limits
    private let roots: [NIOSSLCertificate]
    private let names: ResolvedNames
    private let state = Mutex(State())

    private struct State {
        var pins: [Pin: Pinned] = [:]
        var sweptAt = ContinuousClock.now
    }

    /// A caller with its own connections; ``shutdown()`` closes them.
    /// - Parameter roots: certificates that are trusted beside the system's.
    package init(
        _ policy: EndpointPolicy, resolver: any AddressResolver, roots: [NIOSSLCertificate] = [],
        limits: Limits = Limits()
    ) {
        self.policy = policy
        self.limits = limits
        self.roots = roots
        names = ResolvedNames(resolver, age: limits.nameAge)
    }

    /// Closes its connections; afterwards nothing can be posted.
    package func shutdown() async {
        let clients = state.withLock { state in
            defer { state.pins = [:] }
            return state.pins.values.map(\.client)
        }
        for client in clients { try? await client.shutdown() }
    }

    /// Posts a body as JSON.
    package func post(
        _ body: String, to text: String, of endpointID: Int64, headers: [(name: String, value: String)]
    ) async -> CallOutcome {
        let url: EndpointURL
        do throws(EndpointRefusal) {
            url = try policy.url(text)
        } catch {
            return .failed(.refused(error))
        }
        var request = HTTPClientRequest(url: url.description)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: "User-Agent", value: Release.userAgent)
        for header in headers { request.headers.add(name: header.name, value: header.value) }
        request.body = .bytes(ByteBuffer(string: body))
        return await within(limits.total) { [request] answer in
            await self.send(request, url, endpointID, answer)
        }
    }

    /// The part of an answer received so far: once its head is there it counts, whatever happens to its body.
    private final class Answer: Sendable {
        let outcome = Mutex<CallOutcome?>(nil)
    }

    private func within(
        _ limit: Duration, _ work: @escaping @Sendable (Answer) async -> CallOutcome
    ) async -> CallOutcome {
        let answer = Answer()
        return await withTaskGroup(of: CallOutcome.self) { group in
            group.addTask { await work(answer) }
            group.addTask {
                try? await Task.sleep(for: limit)
                return .failed(.timeout)
            }
            let first = await group.next() ?? .failed(.timeout)
            group.cancelAll()
            return answer.outcome.withLock(\.self) ?? first
        }
    }

    /// Tries one address after the other until there is a connection.
    private func send(
        _ request: HTTPClientRequest, _ url: EndpointURL, _ endpointID: Int64, _ answer: Answer
    ) async -> CallOutcome {
        var name: String?
        let addresses: [NetworkAddress]
        switch url.host {
        case .address(let address): addresses = [address]
        case .name(let host):
            name = host
            guard let resolved = await names.addresses(of: host) else { return .failed(.timeout) }
            do throws(EndpointRefusal) {
                addresses = try policy.addresses(resolved)
            } catch {
                return .failed(.refused(error))
            }
        }
        var fault = CallFault.notConnected
        for address in reachableFirst(addresses, endpointID, name) {
            let pin = Pin(endpointID: endpointID, name: name, address: address)
            let client = take(pin)
            defer { release(pin) }
            do {
                let outcome = try await exchange(request, client, answer)
                note(pin, isReachable: true)
                return outcome
            } catch {
                fault = Self.fault(error)
            }
            if fault == .notConnected { note(pin, isReachable: false) }
            guard fault == .notConnected, !Task.isCancelled else { break }
        }
        // The name may have moved.
        if let name, fault == .notConnected { names.forget(name) }
        return .failed(fault)
    }

    private func exchange(
        _ request: HTTPClientRequest, _ client: HTTPClient, _ answer: Answer
    ) async throws -> CallOutcome {
        let response = try await client.execute(request, timeout: .init(limits.total))
        let outcome = CallOutcome.answered(
            status: Int(response.status.code),
            retryAfter: response.headers.first(name: "Retry-After").map { String($0.prefix(100)) })
        answer.outcome.withLock { $0 = outcome }
        var count = 0
        // Read so that the connection can be used again; a connection with a longer body is closed.
        do {
            for try await part in response.body {
                count += part.readableBytes
                if count > limits.bytes { break }
            }
        } catch {}
        return outcome
    }

    // MARK: Connections to one address each

    /// How long unused connections to an address are kept.
    private static let idle = Duration.seconds(120)

    private func take(_ pin: Pin) -> HTTPClient {
        let (client, old) = state.withLock { state in
            let old = Self.sweep(&state)
            var pinned = state.pins[pin] ?? Pinned(client: make(pin), lastUsed: .now)
            pinned.lastUsed = .now
            pinned.calls += 1
            state.pins[pin] = pinned
            return (pinned.client, old)
        }
        if !old.isEmpty { Task { for client in old { try? await client.shutdown() } } }
        return client
    }

    /// The checked addresses, those that could be connected to the last time first: otherwise an address that never
    /// answers would cost each call its time.
    private func reachableFirst(
        _ addresses: [NetworkAddress], _ endpointID: Int64, _ name: String?
    ) -> [NetworkAddress] {
        guard addresses.count > 1 else { return addresses }
        let reachable = state.withLock { state in
            addresses.filter {
                state.pins[Pin(endpointID: endpointID, name: name, address: $0)]?.isReachable == true
            }
        }
        return reachable + addresses.filter { !reachable.contains($0) }
    }

    private func note(_ pin: Pin, isReachable: Bool) {
        state.withLock { $0.pins[pin]?.isReachable = isReachable }
    }

    private func release(_ pin: Pin) {
        state.withLock { state in
            state.pins[pin]?.calls -= 1
            state.pins[pin]?.lastUsed = .now
        }
    }

    /// Removes, now and then, the clients that were not used for long.
    private static func sweep(_ state: inout State) -> [HTTPClient] {
        let now = ContinuousClock.now
        guard now - state.sweptAt > idle else { return [] }
        state.sweptAt = now
        let old = state.pins.filter { $0.value.calls == 0 && now - $0.value.lastUsed > idle }
        for pin in old.keys { state.pins[pin] = nil }
        return old.values.map(\.client)
    }

    private func make(_ pin: Pin) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .init(limits.connect)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 256
        configuration.connectionPool.idleTimeout = .seconds(30)
        configuration.httpVersion = .http1Only
        if let name = pin.name { configuration.dnsOverride = [name: pin.address.description] }
        if !roots.isEmpty {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.additionalTrustRoots = [.certificates(roots)]
            configuration.tlsConfiguration = tls
        }
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    private static func fault(_ error: any Error) -> CallFault {
        switch error {
        case let error as HTTPClientError:
            switch error {
            case .connectTimeout, .getConnectionFromPoolTimeout: .notConnected
            case .tlsHandshakeTimeout: .tls
            case .deadlineExceeded, .readTimeout, .writeTimeout: .timeout
            default: .disconnected
            }
        case is NIOConnectionError, is SocketAddressError: .notConnected
        case is NIOSSLError, is NIOSSLExtraError: .tls
        case is ChannelError: .notConnected
        case let error as IOError where [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, ETIMEDOUT].contains(error.errnoCode):
            .notConnected
        default: .disconnected
        }
    }
}

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
