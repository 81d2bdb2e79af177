/// A measurement's results: printed for people, or as one JSON object for tracking.
struct Figures {
    private let measurement: String
    private var rows: [(name: String, value: Double, text: String)] = []

    init(_ measurement: String) { self.measurement = measurement }

    /// - Parameters:
    ///   - name: the member's name in JSON.
    ///   - text: what people read.
    mutating func add(_ name: String, _ value: Double, _ text: String) { rows.append((name, value, text)) }

    func print(json: Bool) {
        if json {
            let members = rows.map { "\"\($0.name)\":\(Self.rounded($0.value))" }
            Swift.print("{\"measurement\":\"\(measurement)\",\(members.joined(separator: ","))}")
        } else {
            let width = rows.map(\.text.count).max() ?? 0
            for row in rows {
                let padding = String(repeating: " ", count: width - row.text.count)
                Swift.print("\(row.text)\(padding)  \(Self.rounded(row.value))")
            }
        }
    }

    private static func rounded(_ value: Double) -> Double {
        abs(value) >= 100 ? value.rounded() : (value * 1000).rounded() / 1000
    }
}
