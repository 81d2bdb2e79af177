import Foundation
import Synchronization

/// A small HTTP server on this machine: answers each request as it is told, over a connection of its own, and keeps what was asked.
public final class ScriptedServer: Sendable {
    /// One request as it came over the wire.
    public struct Request: Sendable {
        /// Method and target: `GET /a?b`.
        public let line: String
        /// Head and body.
        public let text: String
    }

    /// An answer's bytes, or nothing at all until the server stops.
    public enum Answer: Sendable {
        /// These bytes, and then the end of the connection.
        case bytes(String)
        /// Silence.
        case silence
        /// These bytes, and then others again and again until the other side has gone.
        case endless(String, then: String)

        /// A status with a JSON text, and perhaps headers, each with its line's end.
        public static func json(_ status: Int, _ text: String, _ headers: String = "") -> Answer {
            .bytes(
                "HTTP/1.1 \(status) Said\r\nContent-Type: application/json\r\n\(headers)"
                    + "Content-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n\(text)")
        }
    }

    /// Where it listens.
    public let port: Int
    private let listener: TCPSocket
    private let log = Mutex<[Request]>([])
    private let open = Mutex<[TCPSocket]?>([])

    /// Starts it.
    public init(_ answer: @escaping @Sendable (Request) -> Answer) throws {
        (listener, port) = try TCPSocket.listening(port: 0)
        Thread.detachNewThread { [self] in
            while let connection = listener.accept() {
                let isOpen = open.withLock { open in
                    open?.append(connection)
                    return open != nil
                }
                guard isOpen else { return }
                Thread.detachNewThread { [self] in serve(connection, answer) }
            }
        }
    }

    /// Everything that was asked.
    public var requests: [Request] { log.withLock { $0 } }

    /// Ends it and every connection.
    public func stop() {
        listener.shutDown()
        let left = open.withLock { open in
            defer { open = nil }
            return open ?? []
        }
        for connection in left { connection.shutDown() }
    }

    private func serve(_ connection: TCPSocket, _ answer: @Sendable (Request) -> Answer) {
        guard let text = connection.receiveRequest() else { return }
        let line = text.prefix { $0 != "\r\n" }.split(separator: " ").prefix(2).joined(separator: " ")
        let request = Request(line: line, text: text)
        log.withLock { $0.append(request) }
        switch answer(request) {
        case .bytes(let bytes):
            try? connection.send(bytes)
            connection.shutDown()
        case .silence: break
        case .endless(let beginning, let more):
            try? connection.send(beginning)
            while (try? connection.send(more)) != nil {}
        }
    }
}
