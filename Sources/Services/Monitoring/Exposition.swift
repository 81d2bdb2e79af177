import Base

/// Writes metrics as Prometheus reads them: text format 0.0.4, as in its manual's "Exposition formats".
struct Exposition {
    /// What the page is served as.
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private(set) var text = ""

    /// Begins a metric; its samples must follow at once.
    mutating func begin(_ family: MetricFamily) {
        let kind =
            switch family.kind {
            case .counter: "counter"
            case .gauge: "gauge"
            case .histogram: "histogram"
            }
        text += "# HELP \(family.name) \(Self.escaped(family.help))\n# TYPE \(family.name) \(kind)\n"
    }

    mutating func add(_ name: String, _ labels: MetricLabels, _ value: Double) {
        line(name, labels.labels, value)
    }

    mutating func add(_ name: String, _ labels: MetricLabels, _ histogram: HistogramSeries) {
        let reading = histogram.reading
        var total: UInt64 = 0
        for (bound, count) in zip(histogram.bounds + [.infinity], reading.counts) {
            total += count
            line(name + "_bucket", labels.labels + [.init(name: "le", value: Self.number(bound))], Double(total))
        }
        line(name + "_sum", labels.labels, reading.sum)
        line(name + "_count", labels.labels, Double(total))
    }

    private mutating func line(_ name: String, _ labels: [MetricLabels.Label], _ value: Double) {
        text += name
        if !labels.isEmpty {
            text += "{"
            for (index, label) in labels.enumerated() {
                if index > 0 { text += "," }
                text += "\(label.name)=\"\(Self.escaped(label.value, quotes: true))\""
            }
            text += "}"
        }
        text += " \(Self.number(value))\n"
    }

    /// As Go's ParseFloat reads it.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if let whole = Int64(exactly: value) { return "\(whole)" }
        return "\(value)"
    }

    /// Quotation marks are escaped in labels alone.
    static func escaped(_ text: String, quotes: Bool = false) -> String {
        guard
            text.utf8.contains(where: {
                $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\"")
            })
        else { return text }
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += #"\\"#
            case "\n": escaped += #"\n"#
            case "\"" where quotes: escaped += #"\""#
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

extension MetricsRegistry {
    /// The page, with samples that were found out for it. A metric without series is left out.
    func exposition(with samples: [MetricSample] = []) -> String {
        let found = Dictionary(grouping: samples, by: \.name)
        var page = Exposition()
        for (family, series) in families {
            let own = found[family.name] ?? []
            guard !series.isEmpty || !own.isEmpty else { continue }
            page.begin(family)
            // In the same order every time: people compare pages.
            for (labels, series) in series.sorted(by: { $0.key < $1.key }) {
                switch series {
                case .counter(let counter): page.add(family.name, labels, counter.value)
                case .gauge(let gauge): page.add(family.name, labels, gauge.value)
                case .histogram(let histogram): page.add(family.name, labels, histogram)
                }
            }
            for sample in own {
                page.add(family.name, MetricLabels(sample.labels.map { ($0.name, $0.value) }), sample.value)
            }
        }
        return page.text
    }
}
