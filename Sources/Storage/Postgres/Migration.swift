/// One step of a schema's history. Once released it never changes: a new step corrects an old one.
///
/// A step that only expands (adds what older programs do not look at) says so in the comments at its top, by a line
/// `-- compatible-from: 10`: programs that know the schema from version 10 on go on working beside those that came with the
/// step. Without that line only programs that know the step itself do.
public struct Migration: Sendable, Hashable {
    /// Its place in the order, from 1.
    public let version: Int
    /// What it does, in a few words.
    public let name: String
    /// Its statements: trusted text, without BEGIN, COMMIT and whatever else cannot run in a transaction.
    public let sql: String
    /// The oldest version whose programs fit the schema once this step was applied; its own where it says nothing, and 0
    /// where what it says is no number.
    public let compatibleFrom: Int

    /// A step from its parts.
    public init(version: Int, name: String, sql: String) {
        self.version = version
        self.name = name
        self.sql = sql
        compatibleFrom = Self.stated(in: sql) ?? version
    }

    /// What the comments at the top say.
    private static func stated(in sql: String) -> Int? {
        let key = "-- compatible-from:"
        return sql.split(separator: "\n", omittingEmptySubsequences: false).prefix { $0.hasPrefix("--") }
            .first { $0.hasPrefix(key) }.map { Int($0.dropFirst(key.count).drop { $0 == " " }) ?? 0 }
    }
}
