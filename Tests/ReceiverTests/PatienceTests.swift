import Foundation
import Receiver
import TestSupport
import Testing

@Suite("A slow sender")
struct PatienceTests {
    /// Sends `first` and then a byte now and then until the receiver hangs up; returns what it answered.
    private func dribble(_ first: String, port: Int) async throws -> String {
        try await onThread {
            let socket = try TCPSocket(port: port)
            defer { socket.close() }
            try socket.send(first)
            // Bounded, so that a receiver without a deadline fails the test rather than hanging it.
            for _ in 0..<3000 {
                // The end of the stream, seen by polling: a send after it fails at the latest on the second try.
                do { try socket.send("x") } catch { return socket.receiveToEnd() }
                Thread.sleep(forTimeInterval: 0.01)
            }
            throw NeverHappened("the receiver hangs up")
        }
    }

    @Test("of a body is cut off at the deadline, though bytes keep coming")
    func body() async throws {
        try await withReceiver(adjusting: { $0.requestDeadline = .milliseconds(300) }) { receiver in
            let answer = try await dribble(
                "POST /webhooks/apple HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n", port: receiver.port)
            #expect(!answer.hasPrefix("HTTP/1.1 200 "))
            #expect(try await receiver.post(envelope("a.b.c")).status == 200)
            #expect(try await receiver.stored() == ["a.b.c"])
        }
    }

    @Test("of headers is cut off at the deadline as well")
    func headers() async throws {
        try await withReceiver(adjusting: { $0.requestDeadline = .milliseconds(300) }) { receiver in
            let answer = try await dribble("POST /webhooks/apple HTTP/1.1\r\nHost: ", port: receiver.port)
            #expect(!answer.hasPrefix("HTTP/1.1 200 "))
            #expect(try await receiver.post(envelope("a.b.c")).status == 200)
        }
    }

    @Test("of the second request's headers is cut off too, and the first one was answered")
    func secondHeaders() async throws {
        try await withReceiver(adjusting: { $0.requestDeadline = .milliseconds(300) }) { receiver in
            let body = envelope("first")
            let answer = try await dribble(
                "POST /webhooks/apple HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)POST /webh",
                port: receiver.port)
            #expect(answer.hasPrefix("HTTP/1.1 200 "))
            #expect(try await receiver.stored() == ["first"])
        }
    }

    @Test("does not keep a connection that stands idle, nor does a connection that never says anything")
    func idle() async throws {
        try await withReceiver(adjusting: { $0.idleTimeout = .milliseconds(200) }) { receiver in
            let port = receiver.port
            let answers = try await onThread {
                let mute = try TCPSocket(port: port)
                defer { mute.close() }
                let once = try TCPSocket(port: port)
                defer { once.close() }
                try once.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                return [mute.receiveToEnd(), once.receiveToEnd()]
            }
            #expect(answers[0].isEmpty)
            #expect(answers[1].hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test("that is in no hurry, but in time, is served on the same connection again and again")
    func patient() async throws {
        try await withReceiver(adjusting: { $0.requestDeadline = .seconds(30) }) { receiver in
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
