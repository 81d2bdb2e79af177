package import Postgres

extension PostgresError {
    /// What to do where the database is not reached, to follow the error in its line; empty where the error says it itself.
    package var advice: String {
        guard operation == "connect", kind == .connection else { return "" }
        if isUnreachable { return "; is the server running, and is DATABASE_URL right?" }
        return sqlState == nil && !isAnswered ? "; correct DATABASE_URL" : ""
    }
}
