import Base
import Foundation
import HTTPKit
import Postgres
import Receiver
import TestSupport
import Testing

@Suite("A sender of what does not verify")
struct RefusedSenderTests {
    private func post(_ port: Int, for sender: String? = nil) async throws -> String {
        try await onThread {
            let socket = try TCPSocket(port: port)
            defer { socket.close() }
            let body = envelope("a.b.c")
            let forwarded = sender.map { "X-Forwarded-For: 17.0.0.1, \($0)\r\n" } ?? ""
            try socket.send(
                "POST /webhooks/apple HTTP/1.1\r\nHost: x\r\n\(forwarded)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
            )
            return try socket.receive(until: "\r\n\r\n")
        }
    }

    private func refuse(_ address: String, _ receiver: RunningReceiver) async throws {
        _ = try await receiver.observer.query(
            """
            insert into storehook.senders (address, refused_until)
            values (\(address)::text::inet, now() + interval '1 hour')
            """)
    }

    @Test("is told to come again later, and nobody else is; when his time is up he is welcome")
    func refused() async throws {
        try await withReceiver(adjusting: {
            $0.refusalInterval = .milliseconds(20)
            $0.http.trustedProxies = TrustedProxies(["127.0.0.1"].compactMap { AddressBlock($0) })
        }) { receiver in
            try await refuse("192.0.2.1", receiver)
            try await refuse("2001:db8::", receiver)
            // A proxy of ours is never refused, whatever stands in the table.
            try await refuse("127.0.0.1", receiver)
            try await eventually("both are refused") {
                let first = try await post(receiver.port, for: "192.0.2.1")
                let second = try await post(receiver.port, for: "2001:db8::77")
                return first.hasPrefix("HTTP/1.1 503 ") && second.hasPrefix("HTTP/1.1 503 ")
            }
            let answer = try await post(receiver.port, for: "192.0.2.1").lowercased()
            #expect(answer.contains("\r\nretry-after: 3") && answer.contains("\r\nconnection: close"), "\(answer)")
            #expect(try await post(receiver.port, for: "192.0.2.2").hasPrefix("HTTP/1.1 200 "))
            #expect(try await post(receiver.port).hasPrefix("HTTP/1.1 200 "))
            _ = try await receiver.observer.query("update storehook.senders set refused_until = now()")
            try await eventually("he is welcome again") {
                try await post(receiver.port, for: "192.0.2.1").hasPrefix("HTTP/1.1 200 ")
            }
        }
    }

    @Test("is known to the queue by the address that counts, and a proxy of ours is nobody")
    func stored() async throws {
        try await withReceiver(adjusting: {
            $0.http.trustedProxies = TrustedProxies(["127.0.0.1"].compactMap { AddressBlock($0) })
        }) { receiver in
            for sender in ["192.0.2.1", "2001:db8:0:1:2:3:4:5", nil] { _ = try await post(receiver.port, for: sender) }
            let senders = try await receiver.observer.query(
                "select host(sender) from storehook.outbox_queue order by id"
            ).map { try $0.decode(0, as: String?.self) }
            #expect(senders == ["192.0.2.1", "2001:db8:0:1::", nil])
        }
    }

    @Test("is his own address where no proxy stands in front, whatever he says")
    func direct() async throws {
        try await withReceiver { receiver in
            _ = try await post(receiver.port, for: "192.0.2.1")
            let sender = try await receiver.observer.query("select host(sender) from storehook.outbox_queue")
                .one().decode(0, as: String?.self)
            #expect(sender == "127.0.0.1")
        }
    }
}
