import Foundation
import Glibc
import Synchronization

/// A stranger's attack on a receiver, for as long as it lasts. Each has its own threads, with a lower priority than all
/// others.
enum StrangerAttack: String, CaseIterable, Sendable {
    /// A request line without an end.
    case endlessHead = "endless-head"
    /// A header whose value never begins.
    case endlessSpaces = "endless-spaces"
    /// Silent connections, as many as a receiver holds, from sixteen addresses.
    case silent
    /// Bodies that arrive a byte a second.
    case byteASecond = "byte-a-second"
    /// Bodies without an end, in large chunks.
    case endlessChunks = "endless-chunks"
    /// Bodies of chunks of one byte.
    case tinyChunks = "tiny-chunks"
    /// Requests sent by the thousand without waiting for an answer, on as many connections as a receiver holds.
    case pipelined
    /// One request after the other on as many connections, and no answer read.
    case unread
    /// Bodies that stop just before their end, and hold together what all requests may.
    case stoppedBodies = "stopped-bodies"
    /// Posts that look like Apple's and are none.
    case junk

    /// What came of it.
    final class Tally: Sendable {
        let connections = Atomic(0)
        let bytes = Atomic(0)
    }

    /// Where to, for how long, and how much.
    struct Terms: Sendable {
        var port: Int
        var end: ContinuousClock.Instant
        /// Of junk, in all.
        var junkBytes: Int
        var seconds: Double
        /// Whether all of it comes from the address that honest posts come from.
        var isNeighbour: Bool

        var isOver: Bool { ContinuousClock.now >= end }

        /// - Parameter buffers: bytes that the kernel may keep for it in each direction; as many as it likes where nil.
        func socket(_ number: Int, _ tally: Tally, buffers: Int32? = nil) -> StrangerSocket? {
            tally.connections.add(1, ordering: .relaxed)
            return StrangerSocket(
                to: port, from: isNeighbour ? (0, 1) : (1, UInt8(1 + number % 16)), buffers: buffers)
        }
    }

    private static let post = "POST /webhooks/apple HTTP/1.1\r\nHost: x\r\n"

    /// Threads that do it together.
    private var threads: Int {
        switch self {
        case .silent, .byteASecond, .stoppedBodies, .pipelined, .unread: 1
        case .endlessHead, .endlessSpaces, .endlessChunks, .tinyChunks, .junk: 4
        }
    }

    /// Does it until the terms are over.
    func run(_ terms: Terms) async -> Tally {
        let tally = Tally()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<threads {
                group.addTask {
                    await withCheckedContinuation { done in
                        Thread.detachNewThread {
                            // Of this thread alone (setpriority(2), Linux).
                            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19)
                            self.attack(number, terms, tally)
                            done.resume()
                        }
                    }
                }
            }
        }
        return tally
    }

    private func attack(_ number: Int, _ terms: Terms, _ tally: Tally) {
        switch self {
        case .endlessHead: pour("GET /", String(repeating: "a", count: 65_536), number, terms, tally)
        case .endlessSpaces:
            pour("POST / HTTP/1.1\r\nX:", String(repeating: " ", count: 65_536), number, terms, tally)
        case .endlessChunks:
            pour(
                Self.post + "Transfer-Encoding: chunked\r\n\r\n",
                "10000\r\n" + String(repeating: "x", count: 65_536) + "\r\n", number, terms, tally)
        case .tinyChunks:
            pour(
                Self.post + "Transfer-Encoding: chunked\r\n\r\n", String(repeating: "1\r\nx\r\n", count: 8192), number,
                terms, tally)
        case .silent: hold(4096, beginning: "", each: "", every: 0.05, terms, tally)
        case .byteASecond:
            hold(256, beginning: Self.post + "Content-Length: 262144\r\n\r\n", each: "x", every: 1, terms, tally)
        case .stoppedBodies:
            hold(
                256, beginning: Self.post + "Content-Length: 262144\r\n\r\n" + String(repeating: "x", count: 255 << 10),
                each: "", every: 0.05, terms, tally)
        case .pipelined: ask(4096, requests: 4096, terms, tally)
        case .unread: ask(4096, requests: 1, terms, tally)
        case .junk: postJunk(number, terms, tally)
        }
    }

    /// Says something without an end, again and again.
    private func pour(_ beginning: String, _ more: String, _ number: Int, _ terms: Terms, _ tally: Tally) {
        let (beginning, more) = (Array(beginning.utf8), Array(more.utf8))
        while !terms.isOver {
            guard let socket = terms.socket(number, tally) else {
                usleep(10_000)
                continue
            }
            var goesOn = socket.send(beginning)
            while goesOn, !terms.isOver {
                goesOn = socket.send(more)
                if goesOn { tally.bytes.add(more.count, ordering: .relaxed) }
            }
            socket.close()
        }
    }

    /// Holds so many connections, and replaces each that was closed.
    private func hold(
        _ count: Int, beginning: String, each: String, every pause: Double, _ terms: Terms, _ tally: Tally
    ) {
        let (beginning, each) = (Array(beginning.utf8), Array(each.utf8))
        var sockets: [StrangerSocket?] = Array(repeating: nil, count: count)
        while !terms.isOver {
            for index in sockets.indices where !terms.isOver {
                if let socket = sockets[index], socket.isOver || !socket.send(each) {
                    socket.close()
                    sockets[index] = nil
                }
                if sockets[index] == nil, let socket = terms.socket(index, tally) {
                    if socket.send(beginning) { tally.bytes.add(beginning.count, ordering: .relaxed) }
                    sockets[index] = socket
                }
            }
            usleep(UInt32(pause * 1_000_000))
        }
        for socket in sockets { socket?.close() }
    }

    /// Sends so many requests at once on each of so many connections, for as long as they are accepted, and reads
    /// nothing. A connection that was closed is replaced.
    private func ask(_ count: Int, requests: Int, _ terms: Terms, _ tally: Tally) {
        let requests = Array(String(repeating: "GET / HTTP/1.1\r\n\r\n", count: requests).utf8)
        var sockets: [(socket: StrangerSocket, sent: Int)?] = Array(repeating: nil, count: count)
        while !terms.isOver {
            for index in sockets.indices where !terms.isOver {
                if let (socket, sent) = sockets[index] {
                    if let more = socket.offer(requests[(sent % requests.count)...]) {
                        sockets[index]?.sent += more
                        tally.bytes.add(more, ordering: .relaxed)
                    } else {
                        socket.close()
                        sockets[index] = nil
                    }
                }
                // Small buffers: they are full the sooner, and all of them are this machine's.
                if sockets[index] == nil, let socket = terms.socket(index, tally, buffers: 16 << 10) {
                    sockets[index] = (socket, 0)
                }
            }
            usleep(10_000)
        }
        for open in sockets { open?.socket.close() }
    }

    /// Posts what the receiver stores, evenly over the time.
    private func postJunk(_ number: Int, _ terms: Terms, _ tally: Tally) {
        let size = 200_000
        let body = "{\"signedPayload\":\"" + String(repeating: "x", count: size) + "\"}"
        let request = Array((Self.post + "Content-Length: \(body.utf8.count)\r\n\r\n" + body).utf8)
        let posts = max(1, terms.junkBytes / size / threads)
        var socket: StrangerSocket?
        for _ in 0..<posts where !terms.isOver {
            if socket == nil { socket = terms.socket(number, tally) }
            if let open = socket, open.send(request), open.answer().hasPrefix("HTTP/1.1 200 ") {
                tally.bytes.add(request.count, ordering: .relaxed)
            } else {
                socket?.close()
                socket = nil
            }
            usleep(UInt32(terms.seconds / Double(posts) * 1_000_000))
        }
        socket?.close()
    }
}
