/// One step of a schema's history. Once released it never changes: a new step corrects an old one.
public struct Migration: Sendable, Hashable {
    /// Its place in the order, from 1.
    public let version: Int
    /// What it does, in a few words.
    public let name: String
    /// Its statements: trusted text, without BEGIN, COMMIT and whatever else cannot run in a transaction.
    public let sql: String

    /// A step from its parts.
    public init(version: Int, name: String, sql: String) {
        self.version = version
        self.name = name
        self.sql = sql
    }
}
