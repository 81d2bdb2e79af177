import Base
import Events
import HTTPKit
import NIOSSL
import Synchronization
import TestSupport
import Testing
import WebhookSupport

@testable import Webhooks

/// Says of names what a test has written down, one answer after the other; the last one again and again.
final class ScriptedNames: AddressResolver {
    private let answers: Mutex<[String: [[String]]]>
    private let asked = Mutex(0)

    init(_ answers: [String: [[String]]]) { self.answers = Mutex(answers) }

    var questions: Int { asked.withLock(\.self) }

    func addresses(of name: String) async -> [NetworkAddress] {
        asked.withLock { $0 += 1 }
        return answers.withLock { answers in
            guard let first = answers[name]?.first else { return [] }
            if (answers[name]?.count ?? 0) > 1 { answers[name]?.removeFirst() }
            return first.compactMap { NetworkAddress($0) }
        }
    }
}

@Suite("Endpoints that would lead elsewhere, or never end")
struct HostileEndpointTests {
    /// Posts once.
    private func post(
        _ url: String, _ policy: AddressPolicy = AddressPolicy(allowsHTTP: true),
        names: ScriptedNames = ScriptedNames([:]),
        roots: [NIOSSLCertificate] = [], limits: EndpointCaller.Limits = EndpointCaller.Limits(), times: Int = 1
    ) async -> [CallOutcome] {
        let caller = EndpointCaller(policy, resolver: names, roots: roots, limits: limits)
        var outcomes: [CallOutcome] = []
        for _ in 0..<times { outcomes.append(await caller.post("{}", to: url, of: 1, headers: [])) }
        await caller.shutdown()
        return outcomes
    }

    private let local = AddressPolicy(
        allowsHTTP: true, allowedNetworks: [AddressBlock("127.0.0.1")].compactMap(\.self))

    @Test(
        "no private, loopback, link-local or otherwise special address is called, however it is written",
        arguments: [
            "127.0.0.1", "10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "[::1]",
            "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[fe80::1]", "[fc00::1]",
            "2130706433",
            "017700000001", "0x7f000001", "0x7f.1", "127.1", "0177.0.0.1", "localhost", "a.localhost", "127.0.0.1.",
            "[2002:7f00:1::]",
        ])
    func addresses(host: String) async throws {
        let server = try ScriptedServer { _ in .json(200, "{}") }
        defer { server.stop() }
        let outcomes = await post("http://\(host):\(server.port)/")
        guard case .failed(.refused) = outcomes[0] else {
            Issue.record("\(host): \(outcomes)")
            return
        }
        #expect(server.requests.isEmpty)
    }

    @Test("a name is refused if any of its addresses is private, and called by none")
    func names() async throws {
        let server = try ScriptedServer { _ in .json(200, "{}") }
        defer { server.stop() }
        for addresses in [
            ["127.0.0.1"], ["93.184.216.34", "10.0.0.1"], ["::ffff:127.0.0.1"], ["fe80::1"], ["169.254.169.254"],
        ] {
            let outcomes = await post(
                "http://shop.example:\(server.port)/", names: ScriptedNames(["shop.example": [addresses]]))
            guard case .failed(.refused(.address)) = outcomes[0] else {
                Issue.record("\(addresses): \(outcomes)")
                continue
            }
        }
        #expect(await post("http://nobody.example/")[0] == .failed(.refused(.unresolved)))
        #expect(server.requests.isEmpty)
    }

    @Test("what is called is the address that was checked: the name is not resolved again, and stands in Host")
    func pinned() async throws {
        let server = try ScriptedServer { _ in .json(200, "{}") }
        defer { server.stop() }
        // No other resolver knows this name: resolving it again would find nothing.
        let names = ScriptedNames(["shop.example": [["127.0.0.1"], ["10.0.0.1"]]])
        let outcomes = await post("http://shop.example:\(server.port)/a?b=c", local, names: names, times: 3)
        #expect(outcomes.allSatisfy { $0.isSuccess })
        #expect(names.questions == 1)
        #expect(server.requests.count == 3)
        for request in server.requests {
            #expect(request.line == "POST /a?b=c")
            #expect(request.text.lowercased().contains("\r\nhost: shop.example:\(server.port)\r\n"))
        }
    }

    @Test("a name that changes to a private address between two calls is refused as soon as it is looked up")
    func rebinding() async throws {
        let server = try ScriptedServer { _ in .json(200, "{}") }
        defer { server.stop() }
        let names = ScriptedNames(["shop.example": [["127.0.0.1"], ["10.0.0.1"]]])
        let limits = EndpointCaller.Limits(nameAge: .zero)
        let outcomes = await post("http://shop.example:\(server.port)/", local, names: names, limits: limits, times: 2)
        #expect(outcomes[0].isSuccess)
        guard case .failed(.refused(.address)) = outcomes[1] else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(server.requests.count == 1)
    }

    @Test("of several addresses the next one is tried where no connection can be made")
    func nextAddress() async throws {
        let server = try ScriptedServer { _ in .json(200, "{}") }
        defer { server.stop() }
        let policy = AddressPolicy(allowsHTTP: true, allowedNetworks: [AddressBlock("127.0.0.0/8")].compactMap(\.self))
        let names = ScriptedNames(["shop.example": [["127.0.0.2", "127.0.0.1"]]])
        #expect(await post("http://shop.example:\(server.port)/", policy, names: names)[0].isSuccess)
        server.stop()
        #expect(await post("http://shop.example:\(server.port)/", policy, names: names)[0] == .failed(.notConnected))
    }

    @Test("of several addresses the one that was reached the last time is tried first")
    func reachedAddress() async throws {
        let policy = AddressPolicy(allowsHTTP: true, allowedNetworks: [AddressBlock("127.0.0.0/8")].compactMap(\.self))
        let names = ScriptedNames(["shop.example": [["127.0.0.2", "127.0.0.1"]]])
        let reached = try await WebhookReceiver.start()
        let caller = EndpointCaller(policy, resolver: names)
        let url = "http://shop.example:\(reached.port)/"
        #expect(await caller.post("{}", to: url, of: 1, headers: []).isSuccess)
        let other = try await WebhookReceiver.start(host: "127.0.0.2", port: reached.port)
        #expect(await caller.post("{}", to: url, of: 1, headers: []).isSuccess)
        #expect(reached.posts.count == 2 && other.posts.isEmpty)
        await caller.shutdown()
        try await reached.stop()
        try await other.stop()
    }

    @Test("a redirect is an answer like another, and is not followed")
    func redirect() async throws {
        let inner = try ScriptedServer { _ in .json(200, "{}") }
        defer { inner.stop() }
        let server = try ScriptedServer { _ in .json(302, "{}", "Location: http://127.0.0.1:\(inner.port)/\r\n") }
        defer { server.stop() }
        let outcomes = await post("http://127.0.0.1:\(server.port)/", local)
        #expect(outcomes[0].status == 302 && !outcomes[0].isSuccess && outcomes[0].code == "http_302")
        #expect(inner.requests.isEmpty)
    }

    @Test("of a body of a GiB some kilobytes are read, and the status counts")
    func hugeBody() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(1 << 30)\r\n\r\n"
        let server = try ScriptedServer { _ in .bytes(head + String(repeating: "x", count: 1 << 20)) }
        defer { server.stop() }
        let outcome = await post("http://127.0.0.1:\(server.port)/", local)[0]
        #expect(outcome == .answered(status: 200, retryAfter: nil, answer: String(repeating: "x", count: 4096)))
    }

    @Test("an answer that never ends, or never begins, is cut off", arguments: ["head", "body", "nothing", "garbage"])
    func endless(part: String) async throws {
        let server = try ScriptedServer { _ in
            switch part {
            case "head": .endless("HTTP/1.1 200 OK\r\n", then: "X-More: \(String(repeating: "x", count: 50))\r\n")
            case "body": .endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", then: "1\r\nx\r\n")
            case "garbage": .endless("", then: String(repeating: "\u{1}", count: 4096))
            default: .silence
            }
        }
        defer { server.stop() }
        let outcomes = await post(
            "http://127.0.0.1:\(server.port)/", local, limits: EndpointCaller.Limits(total: .milliseconds(400)))
        // What has answered 200 has taken it, whatever it goes on to say.
        #expect(outcomes[0].isSuccess == (part == "body"))
        #expect(outcomes[0].status == (part == "body" ? 200 : nil))
        if part == "nothing" { #expect(outcomes[0] == .failed(.timeout)) }
    }

    @Test("a certificate that nobody vouches for is refused, and so is one for another name")
    func certificates() async throws {
        let certificate = try ServerCertificate()
        let trusted = try NIOSSLCertificate.fromPEMBytes(Array(certificate.certificate.utf8))
        let server = try await WebhookReceiver.start(certificate)
        let names = ScriptedNames(["localhost": [["127.0.0.1"]], "shop.example": [["127.0.0.1"]]])
        let url = "https://localhost:\(server.port)/"
        #expect(await post(url, local, names: names)[0] == .failed(.tls))
        #expect(
            await post("https://shop.example:\(server.port)/", local, names: names, roots: trusted)[0] == .failed(.tls))
        #expect(await post(url, local, names: names, roots: trusted)[0].isSuccess)
        try await server.stop()
    }
}
