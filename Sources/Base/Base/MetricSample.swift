/// A metric's value that is read when the page of metrics is requested, rather than counted.
package struct MetricSample: Sendable {
    /// The metric. The list of all metrics must describe it: otherwise the sample is not shown.
    package var name: String
    /// The labels of its series, in any order.
    package var labels: [(name: String, value: String)]
    /// The number, in the unit of the name.
    package var value: Double

    /// A sample of a counter or a gauge.
    package init(_ name: String, _ labels: [(name: String, value: String)] = [], _ value: Double) {
        self.name = name
        self.labels = labels
        self.value = value
    }

    /// A sample in seconds.
    package init(_ name: String, _ labels: [(name: String, value: String)] = [], _ value: Duration) {
        self.init(name, labels, value / .seconds(1))
    }
}

extension AppEnvironment {
    /// The labels of the series of an app in an environment.
    package var labels: [(name: String, value: String)] { [("app", bundleID), ("environment", environment)] }
}
