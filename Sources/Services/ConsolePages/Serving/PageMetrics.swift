import Metrics
import Synchronization

/// What is counted and measured of the pages.
final class PageMetrics: Sendable {
    /// How a login ended.
    enum Login: String, Sendable, CaseIterable {
        /// The visitor is logged in.
        case done
        /// The address or the password is wrong, or there is none.
        case wrong
        /// It came too soon after others.
        case limited
        /// As many passwords as may wait were waiting.
        case busy
    }

    private struct Answers: Hashable {
        let page: String
        let status: Int
    }

    private let factory: any MetricsFactory
    private let answers = Mutex<[Answers: Counter]>([:])
    private let seconds: [String: Recorder]
    private let logins: [Login: Counter]

    /// - Parameter pages: the names of all pages.
    init(_ factory: any MetricsFactory = MetricsSystem.factory, pages: Set<String>) {
        self.factory = factory
        seconds = Dictionary(
            uniqueKeysWithValues: pages.map {
                ($0, Recorder(label: "storehook_console_seconds", dimensions: [("page", $0)], factory: factory))
            })
        logins = Dictionary(
            uniqueKeysWithValues: Login.allCases.map {
                (
                    $0,
                    Counter(
                        label: "storehook_console_logins_total", dimensions: [("outcome", $0.rawValue)],
                        factory: factory)
                )
            })
    }

    /// A page was answered.
    func answered(_ page: String, _ status: Int, after duration: Duration) {
        let counter = answers.withLock { counters in
            let answers = Answers(page: page, status: status)
            if let counter = counters[answers] { return counter }
            let counter = Counter(
                label: "storehook_console_requests_total", dimensions: [("page", page), ("status", "\(status)")],
                factory: factory)
            counters[answers] = counter
            return counter
        }
        counter.increment()
        seconds[page]?.record(duration / .seconds(1))
    }

    /// A visitor tried to log in.
    func login(_ outcome: Login) { logins[outcome]?.increment() }
}
