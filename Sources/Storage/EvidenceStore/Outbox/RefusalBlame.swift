import Postgres
import Schema

/// Who is to blame where PostgreSQL refuses to have a row settled that is tried alone.
package enum RefusalBlame: Sendable, Hashable {
    /// The row may be: it says what the schema cannot hold.
    case row
    /// Neither for long: a lock, a conflict, an answer that comes too late. The same may succeed without a repair.
    case passing
    /// The database, or a change that people made to it: no notification is buried for it, and no attempt counts.
    case database
}

/// What the SQLSTATEs of a class, or one of them, say about blame.
///
/// Classes and codes after PostgreSQL's manual, Appendix A; what stands nowhere in ``table`` is the database's.
struct RefusalClass: Sendable {
    /// What must be true for the blame; otherwise the database has it.
    enum Condition: Sendable {
        case always
        /// The server names a constraint, an index or a NOT NULL column that the migrations made.
        case namesOurs
    }

    /// A class of two characters, or a code of five.
    let code: String
    let blame: RefusalBlame
    var condition = Condition.always

    /// All of them. Of two that fit, the longer one counts.
    static let table = [
        // No errors: successful completion, warning, no data.
        RefusalClass(code: "00", blame: .database), RefusalClass(code: "01", blame: .database),
        RefusalClass(code: "02", blame: .database),
        // SQL statement not yet complete.
        RefusalClass(code: "03", blame: .database),
        // Connection exception.
        RefusalClass(code: "08", blame: .database),
        // Triggered action exception.
        RefusalClass(code: "09", blame: .database),
        // Feature not supported.
        RefusalClass(code: "0A", blame: .database),
        // Invalid transaction initiation, locator exception, invalid grantor, invalid role specification, diagnostics exception.
        RefusalClass(code: "0B", blame: .database), RefusalClass(code: "0F", blame: .database),
        RefusalClass(code: "0L", blame: .database), RefusalClass(code: "0P", blame: .database),
        RefusalClass(code: "0Z", blame: .database),
        // Invalid argument for XQuery, case not found: of functions that were added by hand.
        RefusalClass(code: "10", blame: .database), RefusalClass(code: "20", blame: .database),
        // Cardinality violation, data exception: what the row says.
        RefusalClass(code: "21", blame: .row), RefusalClass(code: "22", blame: .row),
        // Integrity constraint violation. One that was added by hand refuses what is genuine.
        RefusalClass(code: "23", blame: .row, condition: .namesOurs),
        // Invalid cursor state, invalid transaction state, invalid statement name, triggered data change violation.
        RefusalClass(code: "24", blame: .database), RefusalClass(code: "25", blame: .database),
        RefusalClass(code: "26", blame: .database), RefusalClass(code: "27", blame: .database),
        // Invalid authorization specification, dependent privileges, transaction termination.
        RefusalClass(code: "28", blame: .database), RefusalClass(code: "2B", blame: .database),
        RefusalClass(code: "2D", blame: .database),
        // Exceptions of routines, cursor names, savepoints, catalog and schema names.
        RefusalClass(code: "2F", blame: .database), RefusalClass(code: "34", blame: .database),
        RefusalClass(code: "38", blame: .database), RefusalClass(code: "39", blame: .database),
        RefusalClass(code: "3B", blame: .database), RefusalClass(code: "3D", blame: .database),
        RefusalClass(code: "3F", blame: .database),
        // Transaction rollback: serialization, deadlock.
        RefusalClass(code: "40", blame: .passing),
        // Syntax error or access rule violation, WITH CHECK OPTION violation.
        RefusalClass(code: "42", blame: .database), RefusalClass(code: "44", blame: .database),
        // Insufficient resources: disk, memory, connections.
        RefusalClass(code: "53", blame: .database),
        // Program limit exceeded: a value that an index of ours cannot hold, a nesting that is too deep.
        RefusalClass(code: "54", blame: .database), RefusalClass(code: "54000", blame: .row, condition: .namesOurs),
        RefusalClass(code: "54001", blame: .row),
        // Object not in prerequisite state, such as a table that is published without a replica identity.
        RefusalClass(code: "55", blame: .database), RefusalClass(code: "55006", blame: .passing),
        RefusalClass(code: "55P03", blame: .passing),
        // Operator intervention; of it statements that were cancelled.
        RefusalClass(code: "57", blame: .database), RefusalClass(code: "57014", blame: .passing),
        // System error, snapshot too old, configuration file error, foreign data wrapper error.
        RefusalClass(code: "58", blame: .database), RefusalClass(code: "72", blame: .database),
        RefusalClass(code: "F0", blame: .database), RefusalClass(code: "HV", blame: .database),
        // PL/pgSQL error: what a trigger raises.
        RefusalClass(code: "P0", blame: .database),
        // Internal error: damage, or a bug of PostgreSQL's.
        RefusalClass(code: "XX", blame: .database),
    ]

    /// The classes in which a row may be to blame.
    static let ofRows = table.filter { $0.blame == .row }.map { String($0.code.prefix(2)) }
        .reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }

    private static let byCode = Dictionary(uniqueKeysWithValues: table.map { ($0.code, $0) })

    /// What the table says of a code; nil for a class that PostgreSQL's manual does not have.
    static func of(_ state: SQLState) -> RefusalClass? { byCode[state.rawValue] ?? byCode[state.classCode] }
}

extension RefusalBlame {
    /// Who is to blame for an error that came of one row alone. What is no answer of the database's is of the row: a
    /// computation failed.
    package init(_ error: any Error) {
        guard let error = error as? PostgresError else {
            self = .row
            return
        }
        switch error.kind {
        case .server where error.isOfFormerPartition: self = .passing
        case .server(let state):
            guard let rule = RefusalClass.of(state) else {
                self = .database
                return
            }
            switch rule.condition {
            case .always: self = rule.blame
            case .namesOurs: self = Schema.made(whatRefusedIn: error) ? rule.blame : .database
            }
        case .timeout: self = .passing
        case .connection, .cancelled, .decoding, .configuration, .unconfirmed, .unsupported: self = .database
        }
    }
}
