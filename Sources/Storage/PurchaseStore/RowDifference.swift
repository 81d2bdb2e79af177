/// One cell that differs from the value derived from Apple's stored bytes.
public struct RowDifference: Sendable, Hashable, CustomStringConvertible {
    /// The table, in schema `storehook`.
    public var table: String
    /// The row's key, its columns' values in order.
    public var key: String
    /// The column.
    public var column: String
    /// The stored value; nil for NULL or where there is no such row.
    public var stored: String?
    /// The expected value; nil for NULL or where there should be no such row.
    public var derived: String?

    /// A difference.
    public init(table: String, key: String, column: String, stored: String?, derived: String?) {
        self.table = table
        self.key = key
        self.column = column
        self.stored = stored
        self.derived = derived
    }

    /// One line.
    public var description: String {
        "\(table) \(key): \(column) is \(stored ?? "null"), should be \(derived ?? "null")"
    }
}
