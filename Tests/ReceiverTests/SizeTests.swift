import Foundation
import Receiver
import TestSupport
import Testing

@Suite("Size: the receiver")
struct SizeTests {
    private static let limit = 256 * 1024

    @Test("takes a body of exactly the limit and refuses one byte more, declared or chunked")
    func limit() async throws {
        try await withReceiver { receiver in
            let port = receiver.port
            let overhead = envelope("").utf8.count
            let largest = envelope(String(repeating: "x", count: Self.limit - overhead))
            #expect(try await receiver.post(largest).status == 200)

            let declared = try await onThread {
                let socket = try TCPSocket(port: port)
                defer { socket.close() }
                // Refused by its own word: not one byte of the body is waited for.
                try socket.send("POST /webhooks/apple HTTP/1.1\r\nHost: x\r\nContent-Length: \(Self.limit + 1)\r\n\r\n")
                return try socket.receive(until: "\r\n\r\n")
            }
            #expect(declared.hasPrefix("HTTP/1.1 413 "))

            let chunked = try await onThread {
                let socket = try TCPSocket(port: port)
                defer { socket.close() }
                try socket.send("POST /webhooks/apple HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
                // Sending may fail half-way: the answer comes before the end.
                for _ in 0..<(Self.limit / 4096) {
                    try? socket.send("1000\r\n" + String(repeating: "x", count: 4096) + "\r\n")
                }
                try? socket.send("1\r\nx\r\n")
                return try socket.receive(until: "\r\n\r\n")
            }
            #expect(chunked.hasPrefix("HTTP/1.1 413 "))
            #expect(try await receiver.stored().count == 1)
        }
    }

    @Test("takes a chunked body")
    func chunked() async throws {
        try await withReceiver { receiver in
            let port = receiver.port
            let answer = try await onThread {
                let socket = try TCPSocket(port: port)
                defer { socket.close() }
                try socket.send("POST /webhooks/apple HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
                for character in envelope("a.b.c") { try socket.send("1\r\n\(character)\r\n") }
                try socket.send("0\r\n\r\n")
                return try socket.receive(until: "\r\n\r\n")
            }
            #expect(answer.hasPrefix("HTTP/1.1 200 "))
            #expect(try await receiver.stored() == ["a.b.c"])
        }
    }

    @Test("refuses a length that is no number, or two lengths, and goes on serving")
    func nonsense() async throws {
        try await withReceiver { receiver in
            let port = receiver.port
            let heads = [
                "Content-Length: 99999999999999999999\r\n", "Content-Length: -1\r\n", "Content-Length: x\r\n",
                "Content-Length: 5\r\nContent-Length: 6\r\n", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
            ]
            for head in heads {
                let answer = try await onThread {
                    let socket = try TCPSocket(port: port)
                    defer { socket.close() }
                    try socket.send("POST /webhooks/apple HTTP/1.1\r\nHost: x\r\n\(head)\r\nabcde")
                    return socket.receiveToEnd()
                }
                #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"), "\(head)")
            }
            #expect(try await receiver.post(envelope("a.b.c")).status == 200)
            #expect(try await receiver.stored() == ["a.b.c"])
        }
    }

    @Test("answers one request after another on one connection, also when they were sent without waiting")
    func pipelined() async throws {
        try await withReceiver { receiver in
            let port = receiver.port
            let answers = try await onThread {
                let socket = try TCPSocket(port: port)
                defer { socket.close() }
                let bodies = (0..<5).map { envelope("p.\($0)") }
                let requests = bodies.map {
                    "POST /webhooks/apple HTTP/1.1\r\nHost: x\r\nContent-Length: \($0.utf8.count)\r\n\r\n\($0)"
                }
                try socket.send(requests.joined())
                try socket.send("GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                return socket.receiveToEnd()
            }
            #expect(answers.components(separatedBy: "HTTP/1.1 200 ").count == 6)
            #expect(answers.components(separatedBy: "HTTP/1.1 404 ").count == 2)
            #expect(try await receiver.stored() == (0..<5).map { "p.\($0)" })
        }
    }
}
