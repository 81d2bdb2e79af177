import CEmbedded
public import Postgres

extension Schema {
    /// What the migrations made of a table.
    struct TableObjects: Sendable, Hashable {
        /// Its constraints and indexes.
        var names: Set<String>
        /// Its columns that are NOT NULL.
        var required: Set<String>
    }

    /// The objects of each table, without its schema; partitions of days under one name. See `sql/objects.txt`.
    static let objects: [String: TableObjects] = {
        var objects: [String: TableObjects] = [:]
        for line in String(cString: storehook_objects()).split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: "|", omittingEmptySubsequences: false).map {
                $0.split(separator: " ").map(String.init)
            }
            guard parts.count == 3, let table = parts[0].first else { continue }
            objects[table] = TableObjects(names: Set(parts[1]), required: Set(parts[2]))
        }
        return objects
    }()

    /// Whether the object that the server names in a refusal is one that the migrations made: a constraint, an index, or a column that
    /// is NOT NULL. Any other was added by hand, or by a release that this one does not know.
    ///
    /// The names decide, because the catalog does not say what made an object.
    public static func made(whatRefusedIn error: PostgresError) -> Bool {
        guard let table = error.table, table.hasPrefix("storehook."),
            let objects = objects[withoutDay(String(table.dropFirst("storehook.".count)))]
        else { return false }
        if error.sqlState == .notNullViolation { return error.column.map(objects.required.contains) ?? false }
        return error.constraint.map { objects.names.contains(withoutDay($0)) } ?? false
    }

    /// The name of a partition of a day, or of what belongs to it, with `day` in the place of the day.
    private static func withoutDay(_ name: String) -> String {
        name.split(separator: "_", omittingEmptySubsequences: false)
            .map { $0.utf8.count == 8 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } ? "day" : String($0) }
            .joined(separator: "_")
    }
}
