package import HTTPKit
import HTTPTypes
package import Metrics
import Synchronization

/// What an API counts and measures of its requests.
package final class APIMetrics: Sendable {
    /// What has limited the rate of requests.
    enum Limit: String, CaseIterable {
        /// One address asked too often.
        case address
        /// One account did.
        case account
    }

    private struct Answers: Hashable {
        let endpoint: String
        let status: Int
    }

    private let factory: any MetricsFactory
    private let answers: Mutex<[Answers: Counter]>
    private let seconds: [String: Recorder]
    private let limited: [Limit: Counter]
    /// How many connections are open, and what bounded others.
    package let connections: HTTPServerObserver

    /// Every series that is sure to come is made here, at 0.
    package init(_ factory: any MetricsFactory = MetricsSystem.factory, endpoints: [APIEndpoint<some APIAccess>]) {
        self.factory = factory
        var answered: [Answers: Counter] = [:]
        for endpoint in endpoints {
            let problems = endpoint.allProblems.map { endpoint.style.status($0.status).code }
            for status in endpoint.successes.map(\.status.code) + problems {
                let answers = Answers(endpoint: endpoint.name, status: status)
                answered[answers] = Self.counter(answers, factory)
            }
        }
        answers = Mutex(answered)
        seconds = Dictionary(
            (endpoints.map(\.name) + [Self.elsewhere]).map {
                ($0, Recorder(label: "storehook_api_seconds", dimensions: [("endpoint", $0)], factory: factory))
            }
        ) { first, _ in first }
        func counters<Key: Hashable>(_ label: String, _ dimension: String, _ keys: [(Key, String)]) -> [Key: Counter] {
            Dictionary(
                uniqueKeysWithValues: keys.map {
                    ($0.0, Counter(label: label, dimensions: [(dimension, $0.1)], factory: factory))
                })
        }
        limited = counters("storehook_api_limited_total", "by", Limit.allCases.map { ($0, $0.rawValue) })
        let bounded = counters(
            "storehook_bounded_connections_total", "limit",
            HTTPServerObserver.Limit.allCases.map { ($0, $0.rawValue) })
        connections = HTTPServerObserver(open: Meter(label: "storehook_open_connections", factory: factory)) {
            bounded[$0]?.increment()
        }
    }

    /// What requests are counted as that reach no endpoint.
    static let elsewhere = "none"

    private static func counter(_ answers: Answers, _ factory: any MetricsFactory) -> Counter {
        Counter(
            label: "storehook_api_requests_total",
            dimensions: [("endpoint", answers.endpoint), ("status", "\(answers.status)")], factory: factory)
    }

    /// A request was answered.
    func answered(_ endpoint: String, _ status: Int, after duration: Duration) {
        let counter = answers.withLock { counters in
            let answers = Answers(endpoint: endpoint, status: status)
            if let counter = counters[answers] { return counter }
            let counter = Self.counter(answers, factory)
            counters[answers] = counter
            return counter
        }
        counter.increment()
        seconds[endpoint]?.record(duration / .seconds(1))
    }

    /// A request came too soon.
    func limited(by limit: Limit) { limited[limit]?.increment() }
}
