import Foundation
import Postgres
import Testing

@testable import EvidenceStore

@Suite("Blame for a refusal of PostgreSQL's")
struct RefusalBlameTests {
    /// Every class of Appendix A in PostgreSQL's manual, with codes of it; those that a row may be to blame for only where the server
    /// names an object of ours have a `?`.
    private static let classes: [(code: String, blame: String, codes: [String])] = [
        ("00", "database", ["00000"]), ("01", "database", ["01000", "01P01"]), ("02", "database", ["02000"]),
        ("03", "database", ["03000"]), ("08", "database", ["08006", "08P01"]), ("09", "database", ["09000"]),
        ("0A", "database", ["0A000"]), ("0B", "database", ["0B000"]), ("0F", "database", ["0F001"]),
        ("0L", "database", ["0LP01"]), ("0P", "database", ["0P000"]), ("0Z", "database", ["0Z002"]),
        ("10", "database", ["10608"]), ("20", "database", ["20000"]), ("21", "row", ["21000"]),
        ("22", "row", ["22000", "22001", "22003", "22012", "22021", "22P02", "22P05", "22032"]),
        ("23", "row?", ["23000", "23001", "23502", "23503", "23505", "23514", "23P01"]),
        ("24", "database", ["24000"]), ("25", "database", ["25006", "25P02", "25P03"]), ("26", "database", ["26000"]),
        ("27", "database", ["27000"]), ("28", "database", ["28P01"]), ("2B", "database", ["2BP01"]),
        ("2D", "database", ["2D000"]), ("2F", "database", ["2F003"]), ("34", "database", ["34000"]),
        ("38", "database", ["38000"]), ("39", "database", ["39P01"]), ("3B", "database", ["3B001"]),
        ("3D", "database", ["3D000"]), ("3F", "database", ["3F000"]),
        ("40", "passing", ["40001", "40003", "40P01"]),
        ("42", "database", ["42501", "42601", "42703", "42P01", "42883"]),
        ("44", "database", ["44000"]), ("53", "database", ["53100", "53200", "53300", "53400"]),
        ("54", "database", ["54011", "54023"]), ("54000", "row?", ["54000"]), ("54001", "row", ["54001"]),
        ("55", "database", ["55000", "55P02", "55P04"]), ("55006", "passing", ["55006"]),
        ("55P03", "passing", ["55P03"]),
        ("57", "database", ["57000", "57P01", "57P03", "57P04", "57P05"]), ("57014", "passing", ["57014"]),
        ("58", "database", ["58000", "58030", "58P01"]), ("72", "database", ["72000"]), ("F0", "database", ["F0000"]),
        ("HV", "database", ["HV000"]), ("P0", "database", ["P0000", "P0001", "P0002", "P0004"]),
        ("XX", "database", ["XX000", "XX001", "XX002"]),
    ]

    private func blame(_ state: String, _ naming: (inout PostgresError) -> Void = { _ in }) -> RefusalBlame {
        var error = PostgresError(.server(SQLState(rawValue: state)), "")
        naming(&error)
        return RefusalBlame(error)
    }

    @Test("stands in one table, with a line for each class and for each code that differs from its class")
    func table() {
        #expect(RefusalClass.table.map(\.code).sorted() == Self.classes.map(\.code).sorted())
    }

    @Test("follows from the class", arguments: classes.map(\.code))
    func each(code: String) throws {
        let (_, expected, codes) = try #require(Self.classes.first { $0.code == code })
        for state in codes {
            let isConditional = expected.hasSuffix("?")
            #expect("\(blame(state))" == (isConditional ? "database" : expected), "\(state)")
            // An object that was added by hand makes no difference, nor does an object of ours that another table has.
            for (table, constraint) in [
                ("storehook.notifications", "no_sandbox"), ("public.log", "log_pkey"),
                ("storehook.records", "notifications_pkey"),
            ] {
                let found = blame(state) { ($0.table, $0.constraint, $0.column) = (table, constraint, "subtype") }
                #expect("\(found)" == (isConditional ? "database" : expected), "\(state) \(table) \(constraint)")
            }
            let ours = blame(state) {
                ($0.table, $0.constraint, $0.column) = ("storehook.notifications", "notifications_pkey", "type")
            }
            #expect("\(ours)" == (isConditional ? "row" : expected), "\(state)")
        }
    }

    @Test("is the database's for a code that the manual does not have")
    func unknown() {
        for state in ["99000", "ZZ001", "12345"] { #expect(blame(state) == .database) }
    }

    @Test(
        "passes where a partition is made meanwhile, or time runs out; and is the row's where a computation fails"
    )
    func others() {
        #expect(blame("23514") { $0.table = "storehook.outbox" } == .passing)
        #expect(RefusalBlame(PostgresError(.timeout, "")) == .passing)
        for kind: PostgresError.Kind in [
            .connection, .cancelled, .decoding, .configuration, .unconfirmed, .unsupported,
        ] {
            #expect(RefusalBlame(PostgresError(kind, "")) == .database)
        }
        #expect(RefusalBlame(CocoaError(.featureUnsupported)) == .row)
    }
}
