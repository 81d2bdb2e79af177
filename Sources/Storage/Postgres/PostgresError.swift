/// An error between a statement and its result.
///
/// It never carries values: neither parameters nor the server's DETAIL, HINT and CONTEXT, nor any part of a connection
/// string but host, port and database. It may therefore be logged and stored as it is.
public struct PostgresError: Error, Sendable, Hashable {
    /// What went wrong.
    public enum Kind: Sendable, Hashable {
        /// The server refused the statement.
        case server(SQLState)
        /// The connection could not be made, was lost, or is closed.
        case connection
        /// The deadline passed.
        case timeout
        /// The task was cancelled.
        case cancelled
        /// A column did not hold the requested type.
        case decoding
        /// The connection string or another setting is invalid.
        case configuration
        /// The server says that the commit is done, but not that it will last: it came with a WARNING, as when the
        /// wait for a synchronous standby ends early, or the server had been asked to stop. See
        /// ``TransactionOptions/isDurable``.
        case unconfirmed
        /// Something that this client does not support, or a use of it that cannot work.
        case unsupported
    }

    /// What went wrong.
    public var kind: Kind
    /// What happened and what to do, in one line without values.
    public var message: String
    /// The name of the statement or of the step that failed.
    public var operation: String?
    /// The server's code, also for a connection that the server refused.
    public var sqlState: SQLState?
    /// The constraint that was violated.
    public var constraint: String?
    /// The table concerned, with its schema.
    public var table: String?
    /// The column concerned.
    public var column: String?
    /// Where in the statement's text the server found fault, in characters from 1.
    public var position: Int?
    /// Whether the statement or the COMMIT was under way when the connection was lost, or is ``Kind/unconfirmed``, so that it
    /// may have taken effect.
    public var mayHaveCommitted = false

    /// Whether the connection was gone before anything was sent: then another one may be used instead.
    var isUnsent = false
    /// Whether no server could be reached, or a server closed the connection without an error.
    package internal(set) var isUnreachable = false
    /// Whether a server refused the connection for a reason that the message says, with what to do.
    package internal(set) var isAnswered = false
    /// Whether a server did not answer in time while connecting.
    var isSilence = false

    /// An error with a line that says what to do.
    public init(_ kind: Kind, _ message: String, operation: String? = nil, sqlState: SQLState? = nil) {
        self.kind = kind
        self.message = message
        self.operation = operation
        self.sqlState = sqlState
        if case .server(let state) = kind { self.sqlState = state }
    }

    /// Whether the server is away, starts or stops: it comes back by itself. False for a server that refuses.
    public var isAway: Bool {
        isUnreachable || sqlState.map { ["57P01", "57P02", "57P03"].contains($0.rawValue) } ?? false
    }

    /// Whether a server refused the login (class 28) or has no such database (3D): another address would not change that.
    var isRefusal: Bool { sqlState.map { ["28", "3D"].contains($0.classCode) } ?? false }

    /// Whether the statement may succeed later, unchanged and with its values. An unreachable server is transient
    /// whatever the reason: the statement is not at fault. See ``SQLState/isTransient``.
    public var isTransient: Bool {
        switch kind {
        case .server(let state): state.isTransient || isOfFormerPartition
        case .connection, .timeout, .cancelled, .unconfirmed: true
        case .decoding, .configuration, .unsupported: false
        }
    }

    /// Whether the row was on its way to the default partition when its own partition was made. A table's own checks
    /// have names, a partition's bounds have none (PostgreSQL, execMain.c, `ExecPartitionCheckEmitError`).
    package var isOfFormerPartition: Bool { sqlState == .checkViolation && constraint == nil && table != nil }

    /// A copy that names the operation unless one is named already.
    func naming(_ operation: String?) -> PostgresError {
        var error = self
        if error.operation == nil { error.operation = operation }
        return error
    }
}

extension PostgresError: CustomStringConvertible {
    /// One line: the operation, what happened, the code, and the names of the objects concerned.
    public var description: String {
        var text = operation.map { "\($0): " } ?? ""
        text += message
        var notes: [String] = []
        if let sqlState { notes.append("SQLSTATE \(sqlState)") }
        if let constraint { notes.append("constraint \(constraint)") }
        if let table { notes.append("table \(table)") }
        if let column { notes.append("column \(column)") }
        if let position { notes.append("at character \(position)") }
        if mayHaveCommitted { notes.append("it may have taken effect") }
        return notes.isEmpty ? text : text + " (" + notes.joined(separator: ", ") + ")"
    }
}
