package import Base

extension PostgresTimestamp {
    /// Apple's milliseconds; an instant beyond PostgreSQL's calendar becomes the first or last one.
    package init(_ timestamp: Timestamp) { self.init(millisecondsSince1970: timestamp.millisecondsSince1970) }

    /// The last microsecond of a millisecond: rows that were made within it were there at that instant, as people write it.
    package static func end(of timestamp: Timestamp) -> PostgresTimestamp {
        PostgresTimestamp(timestamp).adding(.microseconds(999))
    }
}

extension Timestamp {
    /// The database's microseconds, to the millisecond.
    package init(_ timestamp: PostgresTimestamp) { self.init(millisecondsSince1970: timestamp.millisecondsSince1970) }
}

extension PostgresTimestamp: JSONConvertible {
    /// As RFC 3339 has it, in UTC.
    package var json: JSONValue { Timestamp(self).json }
    /// The same.
    package static var schema: ValueSchema { Timestamp.schema }
}
