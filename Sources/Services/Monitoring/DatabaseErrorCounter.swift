public import Metrics
public import Postgres

/// Counts failed statements by class of SQLSTATE.
public struct DatabaseErrorCounter: Sendable {
    private let byClass: [String: Counter]
    private let other: Counter

    /// A counter in a backend of swift-metrics.
    public init(_ factory: any MetricsFactory = MetricsSystem.factory) {
        func counter(_ code: String) -> Counter {
            Counter(label: "storehook_database_errors_total", dimensions: [("sqlstate_class", code)], factory: factory)
        }
        byClass = Dictionary(uniqueKeysWithValues: (Self.classes + ["timeout", "client"]).map { ($0, counter($0)) })
        other = counter("other")
    }

    /// Counts an error; what was cancelled by ourselves is none.
    public func count(_ error: PostgresError) {
        let code: String
        switch error.kind {
        case .server(let state): code = state.classCode
        // Class 08 is "connection exception": what the server would have said, had it been there.
        case .connection: code = error.sqlState?.classCode ?? "08"
        case .timeout: code = "timeout"
        // Class 01 is "warning", which is what came instead of the server's word.
        case .unconfirmed: code = "01"
        case .decoding, .configuration, .unsupported: code = "client"
        case .cancelled: return
        }
        (byClass[code] ?? other).increment()
    }

    /// The classes of errors that statements like ours may meet. (PostgreSQL's manual, Appendix A)
    private static let classes = [
        "01", "08", "0A", "21", "22", "23", "25", "26", "28", "3D", "3F", "40", "42", "53", "54", "55", "57", "58",
        "72", "XX",
    ]
}
