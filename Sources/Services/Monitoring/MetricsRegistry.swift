public import Metrics
import Synchronization

/// Keeps a process's metrics, for Prometheus to read: a backend of swift-metrics.
///
/// What is exposed was described in advance. A name that was not, or that is used as another kind than it was described,
/// goes nowhere: libraries may emit what they like without making the page grow. Each name has at most ``seriesLimit``
/// series, so that a label which comes from outside by mistake cannot fill the memory.
///
/// A series exists from when its counter, recorder or meter is made, at 0. Emitters make theirs at the start: then the
/// first event is an increase, which `rate()` and `increase()` would not see in a series that begins with it.
public final class MetricsRegistry: MetricsFactory {
    /// The most series that one name may have.
    public static let seriesLimit = 1000

    enum Series {
        case counter(CounterSeries)
        case gauge(GaugeSeries)
        case histogram(HistogramSeries)
    }

    private struct Family {
        var description: MetricFamily
        var series: [MetricLabels: Series] = [:]
    }

    private let state: Mutex<[String: Family]>
    private let order: [String]

    /// An empty registry for the metrics described.
    public init(_ families: [MetricFamily]) {
        order = families.map(\.name)
        state = Mutex(Dictionary(families.map { ($0.name, Family(description: $0)) }) { first, _ in first })
    }

    /// Every metric with its series, in the order of their description.
    var families: [(description: MetricFamily, series: [MetricLabels: Series])] {
        state.withLock { state in
            order.compactMap { state[$0] }.map { ($0.description, $0.series) }
        }
    }

    /// The series of these labels, made if need be; nil where there is none to be had.
    private func series(_ name: String, _ dimensions: [(String, String)]) -> Series? {
        let labels = MetricLabels(dimensions)
        return state.withLock { state in
            guard var family = state[name] else { return nil }
            if let known = family.series[labels] { return known }
            guard family.series.count < Self.seriesLimit else { return nil }
            let made: Series =
                switch family.description.kind {
                case .counter: .counter(CounterSeries())
                case .gauge: .gauge(GaugeSeries())
                case .histogram(let bounds): .histogram(HistogramSeries(bounds: bounds))
                }
            family.series[labels] = made
            state[name] = family
            return made
        }
    }

    // MARK: swift-metrics

    /// The counter of these labels.
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        if case .counter(let series) = series(label, dimensions) { series } else { NOOPMetricsHandler.instance }
    }

    /// The gauge of these labels.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        if case .gauge(let series) = series(label, dimensions) { series } else { NOOPMetricsHandler.instance }
    }

    /// The histogram of these labels, or the gauge if that is what the name was described as.
    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        switch series(label, dimensions) {
        case .histogram(let series): series
        case .gauge(let series): series
        case .counter, nil: NOOPMetricsHandler.instance
        }
    }

    /// The histogram of these labels, in seconds.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        if case .histogram(let series) = series(label, dimensions) { series } else { NOOPMetricsHandler.instance }
    }

    /// Nothing: what was counted stays counted.
    public func destroyCounter(_ handler: any CounterHandler) {}
    /// Nothing: the last value stays.
    public func destroyMeter(_ handler: any MeterHandler) {}
    /// Nothing: what was observed stays observed.
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    /// Nothing: what was observed stays observed.
    public func destroyTimer(_ handler: any TimerHandler) {}
}
