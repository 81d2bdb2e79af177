/// One step of a schema's history. Once released it never changes: a new step corrects an old one.
///
/// A step that only expands (adds what older programs ignore) states that in the comments at its top, by a line `--
/// compatible-from: 10`: programs that know the schema from version 10 on go on working beside those that came with
/// the step. Without that line only programs that know the step do.
public struct Migration: Sendable, Hashable {
    /// Its place in the order, from 1.
    public let version: Int
    /// What it does, in a few words.
    public let name: String
    /// Its statements: trusted text, without BEGIN, COMMIT and others that cannot run in a transaction.
    public let sql: String
    /// The oldest version whose programs fit the schema after this step: its own by default, and 0 where the stated
    /// one is not a number.
    public let compatibleFrom: Int

    /// A step from its parts.
    public init(version: Int, name: String, sql: String) {
        self.version = version
        self.name = name
        self.sql = sql
        compatibleFrom = Self.stated(in: sql) ?? version
    }

    /// The version in the comments at the top. Every program reads all migrations at its start: so it looks no
    /// further, and at bytes rather than characters.
    private static func stated(in sql: String) -> Int? {
        let key = "-- compatible-from:"
        var rest = sql.utf8[...]
        while rest.starts(with: "--".utf8) {
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            if line.starts(with: key.utf8) {
                return Int(Substring(line.dropFirst(key.utf8.count).drop { $0 == UInt8(ascii: " ") })) ?? 0
            }
            rest = rest[line.endIndex...].dropFirst()
        }
        return nil
    }
}
