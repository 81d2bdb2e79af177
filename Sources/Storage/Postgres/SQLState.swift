/// A five-character SQLSTATE; the first two are its class. Meanings: PostgreSQL's manual, Appendix A.
public struct SQLState: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral {
    /// The five characters.
    public let rawValue: String

    /// Wraps five characters that the server sent.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Wraps a literal, so that `error.sqlState == "23505"` reads naturally.
    public init(stringLiteral value: String) {
        rawValue = value
    }

    /// The first two characters, for metrics.
    public var classCode: String {
        String(rawValue.prefix(2))
    }

    /// 23502
    public static let notNullViolation: SQLState = "23502"
    /// 23505
    public static let uniqueViolation: SQLState = "23505"
    /// 23514
    public static let checkViolation: SQLState = "23514"
    /// 25006: the server takes no writes; it is a standby, or set to read only.
    public static let readOnlyTransaction: SQLState = "25006"
    /// 25P02: an earlier statement of this transaction failed.
    public static let inFailedTransaction: SQLState = "25P02"
    /// 0A000
    public static let featureNotSupported: SQLState = "0A000"
    /// 26000: there is no prepared statement of this name.
    public static let invalidStatementName: SQLState = "26000"
    /// 3F000
    public static let invalidSchemaName: SQLState = "3F000"
    /// 40001
    public static let serializationFailure: SQLState = "40001"
    /// 40P01
    public static let deadlockDetected: SQLState = "40P01"
    /// 42P01
    public static let undefinedTable: SQLState = "42P01"
    /// 42P05: there is already a prepared statement of this name.
    public static let duplicatePreparedStatement: SQLState = "42P05"
    /// 42P06
    public static let duplicateSchema: SQLState = "42P06"
    /// 42P07
    public static let duplicateTable: SQLState = "42P07"
    /// 55P03
    public static let lockNotAvailable: SQLState = "55P03"
    /// 57014
    public static let queryCanceled: SQLState = "57014"

    /// Whether the statement may succeed later, unchanged and with its values.
    ///
    /// By class, after Appendix A: connection exceptions (08), rollbacks for serialization or deadlock (40),
    /// insufficient resources (53), a snapshot too old (72), system errors (58). By code: a lock that was not free
    /// (55P03), an object in use (55006), cancelled statements (57014), shutdowns and starts (57P01–57P05), idle
    /// transactions ended (25P03), and a server that turned out to be a standby (25006), as happens after a failover.
    public var isTransient: Bool {
        switch classCode {
        case "08", "40", "53", "58", "72": true
        case "57": rawValue != "57P04"  // the database was dropped
        default: ["25006", "25P03", "55006", "55P03"].contains(rawValue)
        }
    }

    /// Whether this is about the state of the database rather than about the statement: something is missing or not
    /// allowed (3F, 28, 42), used up (53), out of order (XX), being stopped or started (57), or set to read only
    /// (25006). Every client is refused until an operator fixes it.
    public var isDeploymentFault: Bool {
        ["28", "3F", "42", "53", "57", "XX"].contains(classCode) || self == .readOnlyTransaction
    }

    /// Whether this is about the catalogues, so that no value of a statement can cause it: a right, schema, table,
    /// column or function that is missing.
    public var isCatalogueFault: Bool {
        ["28", "3F"].contains(classCode) || ["42501", "42P01", "42703", "42883"].contains(rawValue)
    }

    /// Whether this is about the server as a whole, so that no value of a statement can cause it: it cannot be reached
    /// (08), stops or starts (57P), takes no writes (25006), its disk is full (53100), or it has no connection left
    /// (53300).
    public var isServerFault: Bool {
        classCode == "08" || rawValue.hasPrefix("57P") || ["25006", "53100", "53300"].contains(rawValue)
    }

    /// Whether the server's primary message for this class names objects only. In the others (data exceptions above
    /// all: `invalid input syntax for type integer: "…"`) it repeats values, which must not be logged.
    var hasMessageWithoutValues: Bool {
        switch classCode {
        case "08", "0A", "21", "23", "25", "28", "2B", "3D", "3F", "40", "42", "53", "54", "55", "57", "58", "72": true
        default: false
        }
    }
}

extension SQLState: CustomStringConvertible {
    /// The five characters.
    public var description: String { rawValue }
}
