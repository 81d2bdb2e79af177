import AsyncHTTPClient
import Foundation
import Glibc
import NIOCore
import NIOHTTP1
import Postgres
import Simulation
import TestSupport
import Testing
import WebhookSupport

@Suite("Programs whose log nobody reads", .serialized)
struct StuckLogTests {
    /// Three programs on one pipe, as on one collector's.
    private struct Programs {
        let receiver, worker, api: ChildProgram
        let port, apiPort, workerMetrics: Int

        init(_ site: Site, _ settings: [String: String], _ pipe: LogPipe) throws {
            let settings = settings.merging(["STOREHOOK_LOG_LEVEL": "trace"]) { _, own in own }
            (port, apiPort, workerMetrics) = (try freePort(), try freePort(), try freePort())
            receiver = try site.start(["receive", "--port", "\(port)"], settings, errors: pipe.writing)
            worker = try site.start(["work", "--metrics-port", "\(workerMetrics)"], settings, errors: pipe.writing)
            api = try site.start(["serve", "--port", "\(apiPort)"], settings, errors: pipe.writing)
            pipe.closeWriting()
        }

        var all: [ChildProgram] { [receiver, worker, api] }

        func discard() async { for program in all { await program.discard() } }
    }

    private static func isUp(_ port: Int) async -> Bool {
        let request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/healthz")
        return (try? await client.execute(request, timeout: .seconds(5)).status) == .ok
    }

    /// Settings with which a worker delivers to this receiver.
    private func settings(
        _ site: Site, _ tokens: [String: String], _ directory: String, _ receiver: WebhookReceiver
    ) async throws -> [String: String] {
        let settings = tokens.merging(try makeEndpointSettings(in: directory)) { own, _ in own }
        let added = try await site.run("endpoints", "add", "http://127.0.0.1:\(receiver.port)/", with: settings)
        try #require(added.ending == .exited(0), "\(added.errors)")
        return settings
    }

    @Test(
        "receive, apply, deliver and answer all the same, lose nothing, and end in time",
        arguments: sampled([LogPipe.Collector.stuck, .gone, .slow]))
    func collector(_ collector: LogPipe.Collector) async throws {
        try await withSite { site in
            try await withTokenKey { tokens in
                try await withTemporaryDirectory { directory in
                    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
                    let hook = try await WebhookReceiver.start { _ in .status(204) }
                    let settings = try await settings(site, tokens, directory, hook)
                    let token = try await site.run("demo", "token", "alice", with: settings).output
                        .trimmingCharacters(in: .whitespacesAndNewlines)
                    let pipe = try LogPipe(collector)
                    let programs = try Programs(site, settings, pipe)
                    do {
                        try await work(site, programs, token: token, pipe, collector)
                        try await eventually("all events are delivered") {
                            let events = try await site.value(
                                "select count(*) from storehook.events", as: Int64.self)
                            let delivered = try await site.value(
                                "select count(*) from storehook.deliveries", as: Int64.self)
                            return events > 0 && events == delivered
                        }
                        try await end(programs)
                    } catch {
                        await programs.discard()
                        throw error
                    }
                    await programs.discard()
                    try await hook.stop()
                    if collector == .stuck {
                        // What was first is there once the test reads; no process wrote it after the programs had ended.
                        pipe.read()
                        try await eventually("it is read") { pipe.count >= 4096 }
                    }
                }
            }
        }
    }

    private func work(
        _ site: Site, _ programs: Programs, token: String, _ pipe: LogPipe, _ collector: LogPipe.Collector
    ) async throws {
        for port in [programs.port, programs.workerMetrics, programs.apiPort] {
            try await eventually("it answers") { await Self.isUp(port) }
        }
        let notifications = (1...20).flatMap { lane in
            var subscriber = SimulatedSubscriber(lane: lane, seed: UInt64(lane))
            let line = subscriber.buy(.premiumMonthly, at: Site.now - 10_000_000)
            subscriber.switchAutoRenew(line, on: false, at: Site.now - 5_000_000)
            return subscriber.takeNotifications()
        }
        let texts = notifications.map { $0.signed(by: site.authority) }
        let sender = Sender(texts, port: programs.port)
        await sender.run()
        #expect(sender.answered.count == texts.count)
        for _ in 0..<60 {
            let answer = try await ServedAPI(port: programs.apiPort).send("/v1/account", token: token)
            #expect(answer.status == 200)
        }
        // No program waited for its lines to be read: each answer alone has one.
        #expect(pipe.text.split(separator: "\n").count < texts.count)
        try await site.untilDone()
        let applied = try await site.value(
            "select count(*) from storehook.notifications where outcome = 'applied'", as: Int64.self)
        #expect(applied == Int64(texts.count))
        guard collector == .gone else { return }
        let page = try await fetch("http://127.0.0.1:\(programs.workerMetrics)/metrics").body
        let name = "storehook_log_lines_dropped_total "
        let line = try #require(page.split(separator: "\n").first { $0.hasPrefix(name) })
        let dropped = try #require(line.split(separator: " ").last.flatMap { Int($0) })
        #expect(dropped > texts.count)
    }

    /// In the time that containers are given before they are killed.
    private func end(_ programs: Programs) async throws {
        for program in programs.all { program.signal(SIGTERM) }
        for program in programs.all {
            try await eventually("it ends", within: .seconds(10)) { program.ending != nil }
            #expect(program.ending == .exited(0))
        }
    }

    @Test("say on standard error why they end, at their start and later")
    func lastWords() async throws {
        let (socket, port) = try TCPSocket.listening(port: 0)
        defer { socket.close() }
        try await withSite { site in
            for arguments in [["work"], ["receive", "--port", "\(port)"]] {
                let pipe = try LogPipe(.prompt)
                let program = try site.start(
                    arguments, ["STOREHOOK_APPS": "", "STOREHOOK_LOG_LEVEL": "info"], errors: pipe.writing)
                pipe.closeWriting()
                _ = await program.end()
                try await eventually("the reason is there") { pipe.text.hasSuffix("\n") }
                #expect(pipe.text.contains("storehook: "), "\(pipe.text)")
                await program.discard()
            }
        }
    }

    @Test("say so, too, where their log is read only after it was full for a while")
    func lateReader() async throws {
        let (socket, port) = try TCPSocket.listening(port: 0)
        defer { socket.close() }
        try await withSite { site in
            for arguments in [["work"], ["receive", "--port", "\(port)"]] {
                let pipe = try LogPipe(.stuck)
                let program = try site.start(
                    arguments, ["STOREHOOK_APPS": "", "STOREHOOK_LOG_LEVEL": "info"], errors: pipe.writing)
                pipe.closeWriting()
                pipe.read(afterMilliseconds: 400)
                try await eventually("it ends") { program.ending != nil }
                try await eventually("the reason is there") { pipe.text.contains("storehook: ") }
                await program.discard()
            }
        }
    }
}
