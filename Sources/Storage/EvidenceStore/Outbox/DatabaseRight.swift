/// One privilege on something that stands in schema storehook.
public struct DatabaseRight: Sendable, Hashable, CustomStringConvertible {
    /// PostgreSQL's privileges, as `has_table_privilege` and its kin take them.
    public enum Privilege: String, Sendable {
        case select, insert, update, delete, usage, execute
    }

    /// Stands for every table and view.
    public static let everyRelation = "*"

    /// What may be done.
    public let privilege: Privilege
    /// With what: a table, view, sequence or function.
    public let object: String
    /// With which column of it alone; nil for all.
    public let column: String?

    /// A right.
    public init(_ privilege: Privilege, on object: String, column: String? = nil) {
        self.privilege = privilege
        self.object = object
        self.column = column
    }

    /// As people say it: `update of resolution on dead_letters`.
    public var description: String {
        let place = object == Self.everyRelation ? "every table and view" : object
        return "\(privilege.rawValue)\(column.map { " of \($0)" } ?? "") on \(place)"
    }
}
