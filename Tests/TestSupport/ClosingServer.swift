import Foundation
import Synchronization

/// A small HTTP server on this machine that answers the first request of each connection with 204, keeps the connection for a while, and
/// ends it in its own way.
public final class ClosingServer: Sendable {
    /// How it ends a connection.
    public enum Ending: Sendable, CaseIterable {
        /// Without reading anything more.
        case close
        /// By a reset, without reading anything more.
        case reset
        /// After it has read one more request, and answered with nothing.
        case silence
        /// After it has read one more request, and answered with the first letters of an answer.
        case letters
    }

    /// Where it listens.
    public let port: Int
    private let listener: TCPSocket
    private let log = Mutex<[String]>([])

    /// Starts it.
    /// - Parameters:
    ///   - pause: for how long a connection stays after its first answer.
    ///   - servesMeanwhile: whether further requests are answered until then.
    ///   - saysClose: whether the answer says `Connection: close`.
    ///   - answersFirst: whether the first request is answered; otherwise the connection ends at once after it was read.
    public init(
        _ ending: Ending, after pause: Duration = .zero, servesMeanwhile: Bool = false, saysClose: Bool = false,
        answersFirst: Bool = true
    ) throws {
        (listener, port) = try TCPSocket.listening(port: 0)
        Thread.detachNewThread { [self] in
            while let connection = listener.accept() {
                Thread.detachNewThread { [self] in
                    defer { if ending == .reset { connection.reset() } else { connection.close() } }
                    guard read(connection), answersFirst else { return }
                    answer(connection, saysClose: saysClose)
                    if servesMeanwhile {
                        serve(connection, for: pause)
                    } else if pause > .zero {
                        Thread.sleep(forTimeInterval: pause / .seconds(1))
                    }
                    switch ending {
                    case .close, .reset: break
                    case .silence: _ = read(connection)
                    case .letters: if read(connection) { try? connection.send("HTT") }
                    }
                }
            }
        }
    }

    /// Every request that it has read, head and body.
    public var requests: [String] { log.withLock(\.self) }

    /// Accepts no more connections.
    public func stop() { listener.shutDown() }

    private func serve(_ connection: TCPSocket, for pause: Duration) {
        let end = ContinuousClock.now + pause
        while ContinuousClock.now < end {
            connection.limitReads(to: end - .now)
            guard read(connection) else { return }
            answer(connection, saysClose: false)
        }
    }

    private func answer(_ connection: TCPSocket, saysClose: Bool) {
        try? connection.send("HTTP/1.1 204 No Content\r\n\(saysClose ? "Connection: close\r\n" : "")\r\n")
    }

    private func read(_ connection: TCPSocket) -> Bool {
        guard let request = connection.receiveRequest() else { return false }
        log.withLock { $0.append(request) }
        return true
    }
}
