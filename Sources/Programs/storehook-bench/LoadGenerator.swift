import Foundation
import Glibc

/// Posts prepared requests from one thread and little else, so that on two cores the receiver is what is measured.
struct LoadGenerator: Sendable {
    /// When requests are sent.
    enum Pace: Sendable {
        /// A closed loop: each connection sends its next request upon the answer to the one before, for so many seconds.
        case asFastAsAnswered(seconds: Double)
        /// An open loop: request n is due n intervals after the first, whatever became of those before it, and its latency
        /// counts from then, though it had to wait for a connection. ("Coordinated omission" is what this avoids: Tene, "How
        /// NOT to Measure Latency", 2015.)
        case steady(perSecond: Double, count: Int)
    }

    /// What came of it.
    struct Outcome: Sendable {
        /// Answered with a success (2xx).
        var accepted = 0
        /// Answered otherwise.
        var refused = 0
        /// From when a request was due to its whole answer, of the successes.
        var latencies = Latencies()
        var seconds = 0.0
        /// CPU seconds of this process, which generates the load.
        var cpuSeconds = 0.0
    }

    let port: Int
    let connections: Int
    let pace: Pace

    /// Sends on a thread of its own, until the pace ends and everything is answered.
    /// - Parameter next: gives the next request, whole.
    func run(_ next: @escaping @Sendable () throws -> [UInt8]) async throws -> Outcome {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try send(next) }) }
        }
    }

    private func send(_ next: () throws -> [UInt8]) throws -> Outcome {
        var connections = try (0..<connections).map { _ in try LoadConnection(port: port) }
        defer { for connection in connections { connection.close() } }
        var idle = Array(connections.indices)
        var outcome = Outcome()
        var begun = 0
        let cpuBefore = ProcessTimes.ownCPUSeconds
        let start = ContinuousClock.now
        while true {
            var due = due(begun, since: start)
            // In turn, so that none stands idle until the receiver closes it.
            while let instant = due, instant <= .now, !idle.isEmpty {
                let index = idle.removeFirst()
                try connections[index].begin(try next(), intended: instant)
                begun += 1
                due = self.due(begun, since: start)
            }
            if due == nil, idle.count == connections.count { break }
            let pause = idle.isEmpty ? nil : due.map { $0 - .now }
            for index in try ready(
                connections, within: min(pause ?? Self.answerTimeout, Self.answerTimeout), isPause: pause != nil)
            {
                try connections[index].send()
                let intended = connections[index].intended
                guard let intended, let status = try connections[index].receive() else { continue }
                idle.append(index)
                if (200..<300).contains(status) {
                    outcome.accepted += 1
                    outcome.latencies.record(.now - intended)
                } else {
                    outcome.refused += 1
                }
            }
        }
        outcome.seconds = (ContinuousClock.now - start) / .seconds(1)
        outcome.cpuSeconds = ProcessTimes.ownCPUSeconds - cpuBefore
        return outcome
    }

    /// When the nth request is due, from 0; nil: there is none.
    private func due(_ number: Int, since start: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        switch pace {
        case .asFastAsAnswered(let seconds): ContinuousClock.now - start < .seconds(seconds) ? .now : nil
        case .steady(let rate, let count): number < count ? start + .seconds(Double(number) / rate) : nil
        }
    }

    /// Connections with a request under way at which something happened.
    private func ready(_ connections: [LoadConnection], within limit: Duration, isPause: Bool) throws -> [Int] {
        let busy = connections.indices.filter { connections[$0].intended != nil }
        var polled = busy.map { pollfd(fd: connections[$0].descriptor, events: connections[$0].events, revents: 0) }
        // Rounded up: a poll that ends early would only have to wait again.
        let milliseconds = Int32((max(limit, .zero) / .milliseconds(1)).rounded(.up))
        let count = poll(&polled, nfds_t(polled.count), milliseconds)
        guard count > 0 || isPause || errno == EINTR else {
            throw NeverCameAbout(what: "an answer within \(Self.answerTimeout)")
        }
        return zip(busy, polled).filter { $1.revents != 0 }.map(\.0)
    }

    private static let answerTimeout = Duration.seconds(30)
}
