import Foundation
import HTTPKit
import Receiver
import TestSupport
import Testing

/// How long each may take is the business of HTTPServingTests, by a clock of their own; here, that the receiver watches at all.
@Suite("A slow sender")
struct PatienceTests {
    /// Sends `first` and then a byte now and then until the receiver hangs up; returns what it answered.
    private func dribble(_ first: String, port: Int) async throws -> String {
        try await onThread {
            let socket = try TCPSocket(port: port)
            defer { socket.close() }
            try socket.send(first)
            // Bounded, so that a receiver without a deadline fails the test rather than hanging it.
            for _ in 0..<30_000 {
                // The end of the stream, seen by polling: a send after it fails at the latest on the second try.
                do { try socket.send("x") } catch { return socket.receiveToEnd() }
                Thread.sleep(forTimeInterval: 0.01)
            }
            throw NeverHappened("the receiver hangs up")
        }
    }

    @Test(
        "of a body or of headers is cut off, though bytes keep coming, and nothing is stored",
        arguments: [
            "POST /webhooks/apple HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n",
            "POST /webhooks/apple HTTP/1.1\r\nHost: ",
        ])
    func dribbling(first: String) async throws {
        try await withReceiver(adjusting: { $0.http.requestDeadline = .milliseconds(300) }) { receiver in
            let answer = try await dribble(first, port: receiver.port)
            #expect(!answer.hasPrefix("HTTP/1.1 200 "))
            #expect(try await receiver.stored().isEmpty)
        }
    }

    @Test("does not keep a connection that stands idle, nor does a connection that never says anything")
    func idle() async throws {
        try await withReceiver(adjusting: { $0.http.idleTimeout = .milliseconds(200) }) { receiver in
            let port = receiver.port
            let mute = try await onThread {
                let mute = try TCPSocket(port: port, readTimeout: 300)
                defer { mute.close() }
                return mute.receiveToEnd()
            }
            #expect(mute.isEmpty)
            // Where this machine is so slow that the connection counts as idle before it has asked, it asks again.
            try await eventually("one is answered, and then closed by the receiver") {
                try await onThread {
                    let once = try TCPSocket(port: port, readTimeout: 300)
                    defer { once.close() }
                    try? once.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                    return once.receiveToEnd().hasPrefix("HTTP/1.1 200 ")
                }
            }
        }
    }

    @Test("that is in no hurry, but in time, is served on the same connection again and again")
    func patient() async throws {
        try await withReceiver(adjusting: { $0.http.requestDeadline = .seconds(300) }) { receiver in
            let port = receiver.port
            try await onThread {
                let socket = try TCPSocket(port: port)
                defer { socket.close() }
                for round in 0..<3 {
                    let body = envelope("r.\(round)")
                    let request =
                        "POST /webhooks/apple HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                    for byte in request.utf8 { try socket.send([byte]) }
                    let answer = try socket.receive(until: "\r\n\r\n")
                    guard answer.hasPrefix("HTTP/1.1 200 ") else { throw NeverHappened("200 in round \(round)") }
                }
            }
            #expect(try await receiver.stored() == ["r.0", "r.1", "r.2"])
        }
    }
}
