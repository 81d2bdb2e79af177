/// A number that is found out when somebody asks, rather than kept.
public struct MetricSample: Sendable {
    var name: String
    var labels: MetricLabels
    var value: Double

    /// A sample of a counter or a gauge that is described in advance.
    public init(_ name: String, _ labels: [(String, String)] = [], _ value: Double) {
        self.name = name
        self.labels = MetricLabels(labels)
        self.value = value
    }
}
