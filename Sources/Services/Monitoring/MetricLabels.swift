/// A series' labels, in an order of their own, so that the same labels are the same series however they were given.
struct MetricLabels: Hashable, Sendable {
    struct Label: Hashable, Sendable {
        var name: String
        var value: String
    }

    let labels: [Label]

    init(_ dimensions: [(String, String)]) {
        labels = dimensions.map { Label(name: $0.0, value: $0.1) }.sorted { $0.name < $1.name }
    }
}

extension MetricLabels: Comparable {
    static func < (a: MetricLabels, b: MetricLabels) -> Bool {
        a.labels.lexicographicallyPrecedes(b.labels) { ($0.name, $0.value) < ($1.name, $1.value) }
    }
}
