/// One privilege on an object of schema storehook.
public struct DatabaseRight: Sendable, Hashable, CustomStringConvertible {
    /// PostgreSQL's privileges, as `has_table_privilege` and its kin take them.
    public enum Privilege: String, Sendable {
        case select, insert, update, delete, usage, execute
    }

    /// What everything else in the schema needs.
    package static let schemaUsage = DatabaseRight(.usage, on: "schema storehook")

    /// Stands for every table and view.
    public static let everyRelation = "*"

    /// The privilege.
    public let privilege: Privilege
    /// The object: a table, view, sequence or function.
    public let object: String
    /// The one column of it; nil for all.
    public let column: String?

    /// A right.
    public init(_ privilege: Privilege, on object: String, column: String? = nil) {
        self.privilege = privilege
        self.object = object
        self.column = column
    }

    /// For people: `update of resolution on dead_letters`.
    public var description: String {
        let place = object == Self.everyRelation ? "every table and view" : object
        return "\(privilege.rawValue)\(column.map { " of \($0)" } ?? "") on \(place)"
    }
}
