import Foundation
import Synchronization

/// Stands between a program and an HTTP server of this machine, one request at a time on each connection: lets requests pass, cuts
/// them off, or holds them so that a test can end the program at that very point.
public final class RequestProxy: Sendable {
    /// What becomes of a request.
    public enum Fate: Sendable {
        /// It passes.
        case pass
        /// The connection ends before the server hears of it.
        case cut
        /// The server answers, and the connection ends before the program hears of that.
        case loseAnswer
        /// The server does not hear of it until ``RequestProxy/release()``, and never after ``RequestProxy/drop()``.
        case hold
        /// The server answers, and the program does not hear of that until ``RequestProxy/release()``, and never after
        /// ``RequestProxy/drop()``.
        case holdAnswer
    }

    /// A request that the server has answered.
    public struct Answered: Sendable {
        /// Method and target: `GET /a?b`.
        public let line: String
        /// The HTTP status; 0 where it sent none.
        public let status: Int
    }

    private struct State {
        var fate: @Sendable (String) -> Fate = { _ in .pass }
        var answered: [Answered] = []
        var held: [String] = []
        /// Whether what was held goes on, for each time that it was let go of.
        var releases: [Bool] = []
        var open: [TCPSocket]? = []
    }

    /// Where it listens, on 127.0.0.1.
    public let port: Int
    private let server: Int
    private let listener: TCPSocket
    private let state = Mutex(State())
    private let released = NSCondition()

    /// Begins to pass requests on.
    /// - Parameter server: the port of the server.
    public init(to server: Int) throws {
        self.server = server
        (listener, port) = try TCPSocket.listening(port: 0)
        Thread.detachNewThread { [self] in
            while let connection = listener.accept() {
                let isOpen = state.withLock { state in
                    state.open?.append(connection)
                    return state.open != nil
                }
                guard isOpen else {
                    connection.close()
                    return
                }
                Thread.detachNewThread { [self] in serve(connection) }
            }
        }
    }

    /// Decides of the requests from now on.
    /// - Parameter fate: takes a request's first words: `POST /v1/subscriptions/verify`.
    public func set(_ fate: @escaping @Sendable (String) -> Fate) { state.withLock { $0.fate = fate } }

    /// What the server has answered so far, whatever became of the answers.
    public var answered: [Answered] { state.withLock(\.answered) }

    /// What is held now.
    public var held: [String] { state.withLock(\.held) }

    /// Lets what is held go on.
    public func release() { end(passing: true) }

    /// Cuts off what is held.
    public func drop() { end(passing: false) }

    private func end(passing: Bool) {
        released.lock()
        state.withLock { $0.releases.append(passing) }
        released.broadcast()
        released.unlock()
    }

    /// Ends it and every connection.
    public func stop() {
        listener.shutDown()
        state.withLock { state in
            for connection in state.open ?? [] { connection.shutDown() }
            state.open = nil
        }
        drop()
    }

    /// Ends a connection. Once its number is free, another one may have it: ``stop()`` must not see it any more.
    private func end(_ connection: TCPSocket) {
        state.withLock { state in
            state.open?.removeAll { $0.descriptor == connection.descriptor }
            connection.shutDown()
            connection.close()
        }
    }

    private func serve(_ connection: TCPSocket) {
        defer { end(connection) }
        guard let text = connection.receiveRequest() else { return }
        let line = text.prefix { $0 != "\r\n" }.split(separator: " ").prefix(2).joined(separator: " ")
        let fate = state.withLock { $0.fate }(line)
        if case .cut = fate { return }
        if case .hold = fate, !passesAfterHold(line) { return }
        guard let answer = try? forward(text, line) else { return }
        switch fate {
        case .loseAnswer: return
        case .holdAnswer: guard passesAfterHold(line) else { return }
        case .pass, .hold, .cut: break
        }
        try? connection.send(answer)
    }

    /// Waits until what is held is let go of.
    /// - Returns: whether it goes on.
    private func passesAfterHold(_ line: String) -> Bool {
        released.lock()
        defer { released.unlock() }
        let before = state.withLock { state in
            state.held.append(line)
            return state.releases.count
        }
        while state.withLock({ $0.releases.count }) == before { released.wait() }
        return state.withLock { state in
            if let index = state.held.firstIndex(of: line) { state.held.remove(at: index) }
            return state.releases[before]
        }
    }

    private func forward(_ text: String, _ line: String) throws -> [UInt8] {
        let socket = try TCPSocket(port: server)
        defer { socket.close() }
        guard let end = text.range(of: "\r\n\r\n") else { return [] }
        // Each connection is for one request, on both sides.
        let head = text[..<end.lowerBound].components(separatedBy: "\r\n")
            .filter { !$0.lowercased().hasPrefix("connection:") }
        try socket.send((head + ["Connection: close"]).joined(separator: "\r\n") + text[end.lowerBound...])
        var answer: [UInt8] = []
        while !Self.isWhole(answer) {
            let bytes = try socket.receive()
            guard !bytes.isEmpty else { break }
            answer += bytes
        }
        let status = String(decoding: answer.prefix(16), as: UTF8.self).split(separator: " ").dropFirst().first
        let answered = Answered(line: line, status: status.flatMap { Int($0) } ?? 0)
        state.withLock { $0.answered.append(answered) }
        return answer
    }

    /// Whether an answer has ended by its own words: the server takes its time to end the connection. Without a length its end is that.
    private static func isWhole(_ answer: [UInt8]) -> Bool {
        guard let end = answer.firstRange(of: Array("\r\n\r\n".utf8)) else { return false }
        let head = String(decoding: answer[..<end.lowerBound], as: UTF8.self).lowercased()
        guard let length = head.firstMatch(of: /content-length: ([0-9]+)/).flatMap({ Int($0.1) }) else { return false }
        return answer.count - end.upperBound >= length
    }
}
