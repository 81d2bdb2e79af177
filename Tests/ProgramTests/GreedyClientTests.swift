import AsyncHTTPClient
import Foundation
import Glibc
import NIOCore
import NIOHTTP1
import Simulation
import Synchronization
import TestSupport
import Testing

/// These hold thousands of connections: side by side they would starve each other.
@Suite("A receiver among slow and greedy clients", .serialized)
struct GreedyClientTests {
    /// Runs a receiver that was started under the usual soft limit of open files, and to which this machine is no proxy.
    private func withReceiver(
        _ site: Site, _ settings: [String: String] = [:], _ body: (ChildProgram, Int) async throws -> Void
    ) async throws {
        let program = try ChildProgram(
            "/bin/sh", ["-c", #"ulimit -Sn 1024 && exec "$0" receive --port 0"#, Executable.path],
            environment: site.environment(settings.merging(["STOREHOOK_TRUSTED_PROXIES": "none"]) { own, _ in own }))
        do {
            try await program.untilUnderWay()
            try await body(program, try #require(program.port))
            #expect(program.ending == nil)
            await program.discard()
        } catch {
            print("what the receiver said before the test failed:\n\(program.errors.suffix(2000))")
            await program.discard()
            throw error
        }
    }

    /// Expects that a client that behaves is served, and that memory is bounded.
    private func expectService(_ program: ChildProgram, port: Int) async throws {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/webhooks/apple")
        request.method = .POST
        request.body = .bytes(ByteBuffer(bytes: UnsignedNotification.postBody("well.behaved.client")))
        #expect(try await client.execute(request, timeout: .seconds(120)).status == .ok)
        #expect(try program.peakMemory() < 200)
    }

    /// The test holds the other end of each connection.
    private func raiseOpenFiles() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    @Test(
        "serves others while four thousand connections say nothing, from one address or from as many as it takes",
        arguments: sampled(["512", "100000"]))
    func silent(perAddress: String) async throws {
        raiseOpenFiles()
        try await withSite { site in
            try await withReceiver(site, ["STOREHOOK_CONNECTIONS_PER_ADDRESS": perAddress]) { program, port in
                // Each that is too many takes the place of the one that has been silent for longest.
                let sockets = try await onThread { try (0..<4200).map { _ in try TCPSocket(port: port) } }
                defer { sockets.forEach { $0.close() } }
                for _ in 0..<3 { try await expectService(program, port: port) }
                var health = HTTPClientRequest(url: "http://127.0.0.1:\(port)/healthz")
                health.headers.add(name: "Connection", value: "close")
                #expect(try await client.execute(health, timeout: .seconds(120)).status == .ok)
            }
        }
    }

    @Test("serves others while two thousand connections stand idle and fifty send a byte a second")
    func slow() async throws {
        raiseOpenFiles()
        try await withSite { site in
            try await withReceiver(site, ["STOREHOOK_CONNECTIONS_PER_ADDRESS": "4096"]) { program, port in
                let sockets = try await onThread { try (0..<2050).map { _ in try TCPSocket(port: port) } }
                defer { sockets.forEach { $0.close() } }
                let isDone = Atomic(false)
                let slow = sockets[..<50]
                async let dribbling: Void = onThread {
                    for socket in slow {
                        try? socket.send("POST /webhooks/apple HTTP/1.1\r\nHost: x\r\nContent-Length: 262144\r\n\r\n")
                    }
                    while !isDone.load(ordering: .relaxed) {
                        for socket in slow { try? socket.send("x") }
                        Thread.sleep(forTimeInterval: 1)
                    }
                }
                try await eventually("all of them are connected") {
                    let entries = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(program.id)/fd")
                    return entries.count > sockets.count
                }
                for _ in 0..<3 { try await expectService(program, port: port) }
                isDone.store(true, ordering: .relaxed)
                try await dribbling
            }
        }
    }

    @Test(
        "keeps nothing of heads and trailers without an end, and serves others meanwhile",
        arguments: [
            ("GET / HTTP/1.1\r\nX:", " "), ("GET /", "a"),
            ("POST /webhooks/apple HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX:", " "),
        ])
    func endless(beginning: String, filling: String) async throws {
        try await withSite { site in
            try await withReceiver(site) { program, port in
                let more = Array(String(repeating: filling, count: 1 << 20).utf8)
                let sent = try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            try await onThread {
                                let socket = try TCPSocket(port: port)
                                defer { socket.close() }
                                try socket.send(beginning)
                                var sent = 0
                                while sent < 256, (try? socket.send(more)) != nil { sent += 1 }
                                return sent
                            }
                        }
                    }
                    try await expectService(program, port: port)
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                // What the sockets' buffers take, and no more.
                for sent in sent { #expect(sent < 64, "MiB") }
                try await expectService(program, port: port)
            }
        }
    }

    @Test("serves others while five hundred connections send thousands of requests each and read no answer")
    func unread() async throws {
        raiseOpenFiles()
        try await withSite { site in
            try await withReceiver(site) { program, port in
                let requests = Array(String(repeating: "GET / HTTP/1.1\r\n\r\n", count: 4096).utf8)
                let sockets = try await onThread { try (0..<500).map { _ in try TCPSocket(port: port) } }
                defer { sockets.forEach { $0.close() } }
                // As much as the buffers on the way take, until all of them are cut off.
                async let pouring: Void = onThread {
                    var open = sockets[...]
                    while !open.isEmpty { open = open.filter { $0.offer(requests[...]) != nil }[...] }
                }
                for _ in 0..<3 { try await expectService(program, port: port) }
                try await pouring
                try await expectService(program, port: port)
            }
        }
    }

    @Test(
        "refuses a body of a GiB without keeping it, and serves others meanwhile",
        arguments: [
            "Content-Length: 1073741824\r\n", "Transfer-Encoding: chunked\r\n",
        ])
    func greedy(framing: String) async throws {
        try await withSite { site in
            try await withReceiver(site) { program, port in
                let chunk = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
                let piece = framing.contains("chunked") ? Array("100000\r\n".utf8) + chunk + [13, 10] : chunk
                let outcomes = try await withThrowingTaskGroup(of: (sent: Int, answer: String).self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            try await onThread {
                                let socket = try TCPSocket(port: port)
                                defer { socket.close() }
                                try socket.send("POST /webhooks/apple HTTP/1.1\r\nHost: x\r\n\(framing)\r\n")
                                // Until it is all sent, or the receiver hangs up.
                                var sent = 0
                                while sent < 1024, (try? socket.send(piece)) != nil { sent += 1 }
                                return (sent, socket.receiveToEnd())
                            }
                        }
                    }
                    try await expectService(program, port: port)
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                // Who goes on sending may be reset before he reads the answer.
                for (sent, answer) in outcomes {
                    #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 413 "), "\(answer)")
                    // What the sockets' buffers take, and no more.
                    #expect(sent < 64, "MiB")
                }
                try await expectService(program, port: port)
            }
        }
    }
}
