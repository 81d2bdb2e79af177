/// What is known of a metric in advance: its name, what it is, and the line that explains it.
public struct MetricFamily: Sendable, Hashable {
    /// How a metric behaves.
    public enum Kind: Sendable, Hashable {
        /// Only ever grows, from 0 at the process's start.
        case counter
        /// Goes up and down.
        case gauge
        /// Counts observations by size. The bounds are the buckets' upper ones, ascending, without the infinite one.
        case histogram(bounds: [Double])
    }

    /// The name, with its unit: `storehook_verify_seconds`.
    public var name: String
    /// How it behaves.
    public var kind: Kind
    /// One sentence for people who see the name for the first time.
    public var help: String

    /// A metric's description.
    public init(_ name: String, _ kind: Kind, _ help: String) {
        self.name = name
        self.kind = kind
        self.help = help
    }
}
