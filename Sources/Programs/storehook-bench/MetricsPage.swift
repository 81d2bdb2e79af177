import AsyncHTTPClient
import NIOCore

/// What a program says on its `/metrics`: Prometheus' text format, a series a line.
struct MetricsPage {
    private var values: [String: Double] = [:]

    /// Asks for it, on the loopback interface.
    init(port: Int) async throws {
        let answer = try await HTTPClient.shared.execute(
            HTTPClientRequest(url: "http://127.0.0.1:\(port)/metrics"), timeout: .seconds(8))
        let text = String(buffer: try await answer.body.collect(upTo: 1 << 22))
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " ") else { continue }
            values[String(line[..<space])] = Double(line[line.index(after: space)...])
        }
    }

    /// A series by its name and labels, as they stand in the text.
    subscript(series: String) -> Double? { values[series] }

    /// A histogram's buckets: the upper bound of each, ascending, and how many observations do not exceed it.
    func buckets(_ name: String) -> [(bound: Double, count: Double)] {
        let start = name + "_bucket{le=\""
        return values.compactMap { series, count -> (bound: Double, count: Double)? in
            guard series.hasPrefix(start) else { return nil }
            let bound = series.dropFirst(start.count).prefix { $0 != "\"" }
            return (bound == "+Inf" ? .infinity : Double(bound) ?? .infinity, count)
        }.sorted { $0.bound < $1.bound }
    }
}
