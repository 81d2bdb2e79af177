/// A trigger by which the database refuses rows of a table of the programs', as one that a DBA added.
public struct RefusingTrigger: Sendable {
    /// Makes it, in place of an earlier one on the same table.
    public let script: String
    /// Takes it out again.
    public let repair: String

    /// Names what is refused, and how.
    /// - Parameters:
    ///   - operation: what it comes before, `insert` or `update`.
    ///   - table: a table, without its schema.
    ///   - condition: the rows that are refused, each as `new`.
    ///   - state: the SQLSTATE; by default that of a RAISE that names none.
    ///   - more: what else the error names, such as `table = 'notifications'`.
    public init(
        _ operation: String = "insert", of table: String = "notifications", where condition: String = "true",
        state: String = "P0001", naming more: String = ""
    ) {
        let function = "storehook.refuse_\(table)()"
        script = """
            create or replace function \(function) returns trigger language plpgsql as $$ begin
                if \(condition) then
                    raise exception 'refused' using errcode = '\(state)'\(more.isEmpty ? "" : ", " + more);
                end if;
                return new;
            end $$;
            create or replace trigger refuse before \(operation) on storehook.\(table)
               for each row execute function \(function);
            """
        repair = "drop function \(function) cascade;"
    }

    /// Refuses the notifications with these UUIDs.
    public init(notifications uuids: [String], state: String = "P0001", naming more: String = "") {
        let list = uuids.map { "'\($0)'" }.joined(separator: ", ")
        self.init(where: "new.notification_uuid in (\(list))", state: state, naming: more)
    }
}
