import Base
import EventStore
import Foundation
import HTTPKit
import NIOSSL
import Postgres
import TestSupport
import Testing
import WebhookSupport

@testable import Webhooks

@Suite("Endpoints that close connections which they had kept")
struct ClosingEndpointTests {
    /// A value of a header of a request as it came.
    private static func header(_ name: String, _ request: String) -> String? {
        request.split(separator: "\r\n").first { $0.lowercased().hasPrefix("\(name): ") }
            .map { String($0.dropFirst(name.count + 2)) }
    }

    private static func body(_ request: String) -> Substring? {
        request.firstRange(of: "\r\n\r\n").map { request[$0.upperBound...] }
    }

    /// Posts so often, one after the other.
    private func post(_ times: Int, to port: Int) async -> [CallOutcome] {
        let caller = EndpointCaller(RunningWebhooks.local, resolver: ScriptedNames([:]))
        var outcomes: [CallOutcome] = []
        for number in 0..<times {
            outcomes.append(
                await caller.post(
                    #"{"number":\#(number)}"#, to: "http://127.0.0.1:\(port)/", of: 1,
                    headers: [("webhook-id", "evt_\(number)"), ("webhook-timestamp", "17\(number)")]))
        }
        await caller.shutdown()
        return outcomes
    }

    @Test(
        "get each event once if they close before they read it, at least once if after; no attempt counts as failed"
    )
    func onceEach() async throws {
        let pauses = [Duration.zero, .milliseconds(50), .seconds(1)]
        var servers: [(name: String, server: ClosingServer, readsBeforeClose: Bool)] = []
        func add(
            _ ending: ClosingServer.Ending, after pause: Duration, serves: Bool = false, saysClose: Bool = false
        ) throws {
            servers.append(
                (
                    "\(ending) after \(pause), serves meanwhile: \(serves), says it: \(saysClose)",
                    try ClosingServer(ending, after: pause, servesMeanwhile: serves, saysClose: saysClose),
                    ending == .silence
                ))
        }
        for ending in [ClosingServer.Ending.close, .reset] {
            for pause in pauses {
                for saysClose in [false, true] { try add(ending, after: pause, saysClose: saysClose) }
                if pause > .zero { try add(ending, after: pause, serves: true) }
            }
        }
        for saysClose in [false, true] { try add(.silence, after: .zero, saysClose: saysClose) }
        defer { for (_, server, _) in servers { server.stop() } }
        let (accounts, rounds) = (5, 3)
        let events = accounts * rounds
        try await EndpointSite.with { site in
            for (_, server, _) in servers { try await site.add("http://127.0.0.1:\(server.port)/") }
            try await RunningWebhooks.with(site) {
                for _ in 0..<rounds { for account in 1...accounts { try await site.write(of: account) } }
                try await site.untilEnded(events * servers.count)
            }
            let counted: Int64 = try await site.value(
                "select count(*) from storehook.deliveries where outcome = 'delivered' and attempts = 1")
            #expect(counted == Int64(events * servers.count))
            let endpoints = try await site.store.list()
            #expect(endpoints.allSatisfy { $0.failures == 0 && $0.lastFailure == nil })
        }
        for (name, server, readsBeforeClose) in servers {
            let ids = server.requests.compactMap { Self.header("webhook-id", $0) }
            #expect(Set(ids).count == events, "\(name)")
            if !readsBeforeClose { #expect(ids.count == events, "\(name)") }
        }
    }

    @Test(
        "a post that is lost so is made again once, the same, over a connection that is not kept; a second loss fails")
    func again() async throws {
        let server = try ClosingServer(.silence)
        defer { server.stop() }
        let outcomes = await post(3, to: server.port)
        #expect(outcomes.allSatisfy { $0.isSuccess })
        let requests = server.requests
        // Afterwards no connection is kept for a while.
        #expect(requests.compactMap { Self.header("webhook-id", $0) } == ["evt_0", "evt_1", "evt_1", "evt_2"])
        try #require(requests.count == 4)
        #expect(Self.header("webhook-timestamp", requests[1]) == Self.header("webhook-timestamp", requests[2]))
        #expect(Self.body(requests[1]) == Self.body(requests[2]) && Self.body(requests[1]) == #"{"number":1}"#)
        #expect(requests.map { Self.header("connection", $0) } == [nil, nil, "close", "close"])

        // This endpoint answers the first post and no other: the second post is lost twice.
        let mute = try await WebhookReceiver.start { $0.number == 0 ? .status(204) : .close }
        #expect(await post(2, to: mute.port).map(\.code) == ["http_204", "disconnected"])
        #expect(mute.posts.map(\.id) == ["evt_0", "evt_1", "evt_1"])
        try await mute.stop()
    }

    @Test("a post is not made again when a new connection ends, nor when part of an answer had come")
    func notAgain() async throws {
        let fresh = try ClosingServer(.close, answersFirst: false)
        defer { fresh.stop() }
        #expect(await post(2, to: fresh.port).map(\.code) == ["disconnected", "disconnected"])
        #expect(fresh.requests.count == 2)
        let letters = try ClosingServer(.letters)
        defer { letters.stop() }
        #expect(await post(2, to: letters.port).map(\.code) == ["http_204", "disconnected"])
        #expect(letters.requests.count == 2)
    }

    @Test("one that keeps them sees no more connections at the start of a backlog than posts at once")
    func backlog() async throws {
        let lanes = 16
        var seen: [Int] = []
        // On a busy machine the first trial may take longer than the others wait.
        for _ in 0..<3 where seen.last != lanes {
            let server = try await WebhookReceiver.start { _ in .slow(.milliseconds(20), 204) }
            let caller = EndpointCaller(RunningWebhooks.local, resolver: ScriptedNames([:]))
            await withDiscardingTaskGroup { group in
                for _ in 0..<lanes {
                    group.addTask {
                        for _ in 0..<6 {
                            _ = await caller.post("{}", to: "http://127.0.0.1:\(server.port)/", of: 1, headers: [])
                        }
                    }
                }
            }
            #expect(server.posts.count == lanes * 6)
            seen.append(server.connections)
            await caller.shutdown()
            try await server.stop()
        }
        #expect(seen.last == lanes, "\(seen)")
    }

    @Test("until one has answered two posts on a connection, a single post at a time uses one again; then all do")
    func proven() async throws {
        // Longer than any post waits for the first one that does.
        let server = try await WebhookReceiver.start { _ in .slow(.milliseconds(600), 204) }
        let caller = EndpointCaller(RunningWebhooks.local, resolver: ScriptedNames([:]))
        func post(atOnce count: Int) async -> [String?] {
            let before = server.posts.count
            await withDiscardingTaskGroup { group in
                for _ in 0..<count {
                    group.addTask {
                        _ = await caller.post("{}", to: "http://127.0.0.1:\(server.port)/", of: 1, headers: [])
                    }
                }
            }
            return server.posts.dropFirst(before).map { $0.headers["connection"] }
        }
        #expect(await post(atOnce: 5) == [nil, nil, nil, nil, nil])
        #expect(server.connections == 5)
        #expect(await post(atOnce: 5).count { $0 == nil } == 1)
        #expect(await post(atOnce: 5) == [nil, nil, nil, nil, nil])
        #expect(server.connections == 9)
        await caller.shutdown()
        try await server.stop()
    }

    @Test("over TLS as well")
    func secure() async throws {
        let certificate = try ServerCertificate()
        let server = try await WebhookReceiver.start(certificate) { $0.number == 1 ? .close : .status(204) }
        let caller = EndpointCaller(
            RunningWebhooks.local, resolver: ScriptedNames(["localhost": [["127.0.0.1"]]]),
            roots: try NIOSSLCertificate.fromPEMBytes(Array(certificate.certificate.utf8)))
        for number in 0..<3 {
            let outcome = await caller.post(
                "{}", to: "https://localhost:\(server.port)/", of: 1, headers: [("webhook-id", "evt_\(number)")])
            #expect(outcome == .answered(status: 204, retryAfter: nil))
        }
        #expect(server.posts.map(\.id) == ["evt_0", "evt_1", "evt_1", "evt_2"])
        await caller.shutdown()
        try await server.stop()
    }
}
