/// A server's version, and whether the programs are made for it.
public struct ServerVersion: Sendable, Hashable {
    /// Whether the programs are made for it.
    public enum Standing: Sendable, Hashable {
        /// Every test is run on it.
        case tested
        /// It is served like its neighbours, and no test is run on it.
        case untested
        /// It was never tried: what fails on it is unknown.
        case unserved
    }

    /// The major versions that are served.
    public static let served = 15...18
    /// Those of them that `deploy/test --full` runs the tests on.
    public static let tested = [15, 16, 18]

    /// `server_version_num`, 160014 for 16.14.
    public var number: Int

    /// A version by its number.
    public init(number: Int) { self.number = number }

    /// What releases of one data format have in common, 16 for 16.14.
    public var major: Int { number / 10_000 }

    /// Whether the programs are made for it.
    public var standing: Standing {
        if Self.tested.contains(major) { return .tested }
        return Self.served.contains(major) ? .untested : .unserved
    }
}

extension ServerVersion: CustomStringConvertible {
    /// As PostgreSQL writes it, without what a distributor adds.
    public var description: String { "\(major).\(number % 10_000)" }
}
