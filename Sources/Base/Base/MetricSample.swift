/// A number for the page of metrics that is read when somebody asks, rather than counted.
package struct MetricSample: Sendable {
    /// The metric, which the list of all metrics has to describe: else the sample is not shown.
    package var name: String
    /// The labels of its series, in any order.
    package var labels: [(name: String, value: String)]
    /// The number, in the unit that the name says.
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
    /// What the series of an app in an environment are labelled with.
    package var labels: [(name: String, value: String)] { [("app", bundleID), ("environment", environment)] }
}
