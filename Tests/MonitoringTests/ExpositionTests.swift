import Base
import Metrics
import Testing

@testable import Monitoring

@Suite("The page for Prometheus")
struct ExpositionTests {
    private let registry = MetricsRegistry([
        MetricFamily("jobs_total", .counter, "Jobs\\done,\n by \"kind\"."),
        MetricFamily("heat", .gauge, "How hot."),
        MetricFamily("wait_seconds", .histogram(bounds: [0.1, 1]), "How long."),
        MetricFamily("unused", .gauge, "Nobody makes one."),
    ])

    private func counter(_ dimensions: [(String, String)]) -> Counter {
        Counter(label: "jobs_total", dimensions: dimensions, factory: registry)
    }

    @Test("has HELP and TYPE once a metric, and the series under them in an order that stays")
    func whole() {
        counter([("kind", "b")]).increment(by: 2)
        counter([("kind", "a")]).increment()
        Meter(label: "heat", factory: registry).set(1.5)
        let wait = Recorder(label: "wait_seconds", factory: registry)
        for value in [0.05, 0.1, 0.5, 7] { wait.record(value) }
        let expected = """
            # HELP jobs_total Jobs\\\\done,\\n by "kind".
            # TYPE jobs_total counter
            jobs_total{kind="a"} 1
            jobs_total{kind="b"} 2
            # HELP heat How hot.
            # TYPE heat gauge
            heat 1.5
            # HELP wait_seconds How long.
            # TYPE wait_seconds histogram
            wait_seconds_bucket{le="0.1"} 2
            wait_seconds_bucket{le="1"} 3
            wait_seconds_bucket{le="+Inf"} 4
            wait_seconds_sum 7.65
            wait_seconds_count 4

            """
        #expect(registry.exposition() == expected)
        #expect(registry.exposition() == expected)
    }

    @Test("escapes what labels may hold")
    func labels() {
        _ = counter([("kind", "a\"b\\c\nd é")])
        #expect(registry.exposition().contains(#"jobs_total{kind="a\"b\\c\nd é"} 0"#))
    }

    @Test(
        "writes numbers as Go reads them",
        arguments: [
            (0, "0"), (-3, "-3"), (1e15, "1000000000000000"), (0.0001, "0.0001"), (.infinity, "+Inf"),
            (-.infinity, "-Inf"), (.nan, "NaN"), (1e300, "1e+300"), (0.1 + 0.2, "0.30000000000000004"),
        ] as [(Double, String)])
    func numbers(number: Double, text: String) {
        #expect(Exposition.number(number) == text)
    }

    @Test("shows a series at 0 from when it was made, and a metric without series not at all")
    func zero() {
        _ = counter([("kind", "a")])
        let page = registry.exposition()
        #expect(page.contains("jobs_total{kind=\"a\"} 0\n"))
        #expect(!page.contains("heat") && !page.contains("unused"))
    }

    @Test("shows what was found out for it beside what is kept")
    func samples() {
        let page = registry.exposition(with: [
            MetricSample("heat", [("room", "1")], 20), MetricSample("heat", [("room", "2")], 21),
            MetricSample("unknown", [], 1),
        ])
        #expect(page == "# HELP heat How hot.\n# TYPE heat gauge\nheat{room=\"1\"} 20\nheat{room=\"2\"} 21\n")
    }

    @Test("of storehook has a sentence and a plain name for every metric, and ascending bounds")
    func catalogue() {
        let families = MetricFamily.storehook
        #expect(Set(families.map(\.name)).count == families.count)
        for family in families {
            #expect(family.name.hasPrefix("storehook_") || family.name.hasPrefix("process_"))
            #expect(family.name.allSatisfy { $0.isLowercase || $0 == "_" }, "\(family.name)")
            #expect(family.help.hasSuffix("."), "\(family.name)")
            #expect((family.kind == .counter) == family.name.hasSuffix("_total"), "\(family.name)")
            if case .histogram(let bounds) = family.kind {
                #expect(bounds == bounds.sorted() && Set(bounds).count == bounds.count, "\(family.name)")
            }
        }
    }
}
