import HTTPKit
import Synchronization

/// Posts bodies to a receiver as Apple does: over several connections, with retries where the answer asks for it.
struct Poster: Sendable {
    /// The result of the posts.
    struct Outcome: Sendable {
        /// Answered 200: stored.
        var accepted = 0
        /// Last answered otherwise, by status; 0 where no answer came.
        var refused: [Int: Int] = [:]
        /// Posts that had to be repeated.
        var retried = 0

        mutating func count(_ status: Int, retries: Int) {
            retried += retries
            if status == 200 { accepted += 1 } else { refused[status, default: 0] += 1 }
        }

        mutating func add(_ other: Outcome) {
            accepted += other.accepted
            retried += other.retried
            refused.merge(other.refused, uniquingKeysWith: +)
        }

        var text: String {
            var text = "accepted \(accepted)"
            if retried > 0 { text += ", after \(retried) retries" }
            for (status, count) in refused.sorted(by: { $0.key < $1.key }) {
                text += status == 0 ? ", no answer \(count)" : ", refused with \(status) \(count)"
            }
            return text
        }
    }

    let url: String
    let connections: Int
    let rate: Double?

    /// Times one body is posted before it is given up; a second apart, so half a minute of a receiver that is away.
    private static let tries = 30

    func post(_ bodies: SignedBodies, _ progress: ProgressBar) async throws -> Outcome {
        let client = OutboundClient(limits: OutboundClient.Limits(connections: connections))
        let pace = Pace(perSecond: rate)
        let outcome = await withTaskGroup { group in
            for _ in 0..<connections {
                group.addTask {
                    var outcome = Outcome()
                    while let body = bodies.next() {
                        await pace.wait()
                        let (status, retries) = await post(body, client)
                        outcome.count(status, retries: retries)
                        progress.advance()
                    }
                    return outcome
                }
            }
            return await group.reduce(into: Outcome()) { $0.add($1) }
        }
        progress.finish()
        await client.shutdown()
        return outcome
    }

    private func post(_ body: String, _ client: OutboundClient) async -> (status: Int, retries: Int) {
        var request = OutboundRequest(
            "POST", url, headers: [("Content-Type", "application/json")], body: Array(body.utf8))
        request.answerBody = .whole(upTo: 1 << 16)
        for attempt in 0..<Self.tries {
            let status = (try? await client.send(request).status) ?? 0
            // Apple retries after every 4xx and 5xx; here only failures that may pass are retried.
            if status != 0 && status != 503 { return (status, attempt) }
            try? await Task.sleep(for: .seconds(1))
        }
        return (0, Self.tries)
    }
}

/// Spaces events evenly in time; without a rate it does not wait.
private final class Pace: Sendable {
    private let interval: Duration?
    private let next = Mutex(ContinuousClock.now)

    init(perSecond rate: Double?) { interval = rate.map { .seconds(1 / $0) } }

    func wait() async {
        guard let interval else { return }
        let turn = next.withLock { next in
            let turn = max(next, .now)
            next = turn + interval
            return turn
        }
        try? await Task.sleep(until: turn)
    }
}
