import Metrics
import Testing

@testable import Monitoring

@Suite("The metrics backend")
struct MetricsRegistryTests {
    private let registry = MetricsRegistry([
        MetricFamily("jobs_total", .counter, "Jobs."), MetricFamily("heat", .gauge, "Heat."),
        MetricFamily("wait_seconds", .histogram(bounds: [1, 2]), "Wait."),
    ])

    private func counted(_ name: String = "jobs_total") -> [Double] {
        registry.families.filter { $0.description.name == name }.flatMap { $0.series.values }.map {
            if case .counter(let series) = $0 { series.value } else { -1 }
        }
    }

    @Test("knows a series by its labels, however often and in whichever order they are given")
    func sameSeries() {
        for labels in [[("a", "1"), ("b", "2")], [("b", "2"), ("a", "1")]] {
            Counter(label: "jobs_total", dimensions: labels, factory: registry).increment()
        }
        #expect(counted() == [2])
    }

    @Test("lets a counter only grow")
    func counter() {
        let counter = Counter(label: "jobs_total", factory: registry)
        counter.increment(by: 5)
        counter.increment(by: -3)
        counter.increment(by: 0)
        #expect(counted() == [5])
    }

    @Test("counts without loss from many threads at once")
    func concurrency() async {
        let counter = Counter(label: "jobs_total", factory: registry)
        let meter = Meter(label: "heat", factory: registry)
        let recorder = Recorder(label: "wait_seconds", factory: registry)
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for number in 0..<1000 {
                        counter.increment()
                        meter.increment()
                        recorder.record(number % 3)
                    }
                }
            }
        }
        #expect(counted() == [8000])
        let page = registry.exposition()
        #expect(page.contains("heat 8000\n"))
        #expect(page.contains("wait_seconds_bucket{le=\"1\"} 5336\n") && page.contains("wait_seconds_count 8000\n"))
    }

    @Test("puts an observation into the first bucket whose bound it does not exceed, and ignores what is no number")
    func buckets() {
        let series = HistogramSeries(bounds: [1, 2])
        for value in [-1, 1, 1.5, 2, 3, .nan, .infinity] { series.record(value) }
        #expect(series.reading == HistogramSeries.Reading(counts: [2, 2, 1], sum: 6.5))
        series.recordNanoseconds(1_500_000_000)
        #expect(series.reading.counts == [2, 3, 1] && series.reading.sum == 8)
    }

    @Test("keeps nothing of what was not described, or was described as another kind")
    func strangers() {
        Counter(label: "hb_requests", factory: registry).increment()
        Counter(label: "heat", factory: registry).increment()
        Meter(label: "jobs_total", factory: registry).set(5)
        Timer(label: "jobs_total", factory: registry).recordSeconds(5)
        Recorder(label: "hb_request_size", factory: registry).record(1)
        let page = registry.exposition()
        #expect(!page.contains("hb_") && !page.contains(" 5\n") && !page.contains(" 1\n"), "\(page)")
    }

    @Test("holds at most so many series of a name, whatever their labels")
    func bound() {
        for number in 0..<(MetricsRegistry.seriesLimit + 50) {
            Counter(label: "jobs_total", dimensions: [("id", "\(number)")], factory: registry).increment()
        }
        #expect(counted().count == MetricsRegistry.seriesLimit)
        Counter(label: "jobs_total", dimensions: [("id", "0")], factory: registry).increment()
        #expect(counted().max() == 2)
    }
}
