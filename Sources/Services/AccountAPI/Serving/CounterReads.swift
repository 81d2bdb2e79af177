package import APIKit
package import AccountStore

/// Reads of counters of use, of all requests.
package typealias CounterReads = SharedReads<UsageCounter, Int64>

extension SharedReads where Key == UsageCounter, Value == Int64 {
    /// Reads counters in a database; waiting requests are asked to retry once it is silent.
    /// - Parameter connections: how many the pool has. Most are left to other work: a counter is a row of one table.
    package convenience init(_ usage: Usage, connections: Int, watch: DatabaseWatch) {
        self.init(fewStatements: 1, mostStatements: connections / 4) { counters in
            try await watch.watching { try await usage.used(counters) }
        }
    }
}
