import CEmbedded
public import Postgres

extension Schema {
    /// What of a table the migrations made: its constraints and indexes by name, and its columns that are NOT NULL.
    struct TableObjects: Sendable, Hashable {
        var names: Set<String>
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

    /// Whether what the server names in a refusal is an object that the migrations made: a constraint, an index, or a column that
    /// is NOT NULL. What else is in the way somebody added by hand, or a release that this one does not know.
    ///
    /// By the names alone, as the migrations left them: the catalog does not tell who made an object.
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
