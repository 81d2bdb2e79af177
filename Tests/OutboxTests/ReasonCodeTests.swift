import AppStoreVerification
import EvidenceStore
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("Reason codes")
struct ReasonCodeTests {
    private static let answers: [ReasonCode] = [.sqlState("23514"), .sqlState("XX000"), .sqlState("40P01")]

    @Test("are read back from their names, which the schema takes")
    func names() throws {
        for code in ReasonCode.named + Self.answers {
            #expect(ReasonCode(rawValue: code.rawValue) == code)
            #expect(code.rawValue.wholeMatch(of: /[a-z0-9_]{1,60}/) != nil)
        }
        #expect(ReasonCode.sqlState("40P01").rawValue == "sqlstate_40p01")
        #expect(Set(ReasonCode.named.map(\.rawValue)).count == ReasonCode.named.count)
        for name in ["", "sqlstate_", "sqlstate_123456", "of_a_later_release"] {
            #expect(ReasonCode(rawValue: name) == nil)
        }
    }

    @Test("stand under one label of one kind of letter, or of what passes")
    func labels() {
        let kinds = [nil] + DeadLetterCategory.allCases
        let labels = kinds.flatMap { ReasonCode.labels(of: $0) }
        #expect(Set(labels).count == labels.count)
        for code in ReasonCode.named + Self.answers {
            #expect(ReasonCode.labels(of: code.category).contains(code.label), "\(code)")
        }
        #expect(ReasonCode.verification(.revocationUnknown).category == nil)
        #expect(ReasonCode.sqlState("40P01").category == nil)
        #expect(ReasonCode.sqlState("23514").category == .unprocessable)
    }

    @Test("name each failure of the database")
    func database() {
        #expect(ReasonCode(PostgresError(.server("23514"), "")) == .sqlState("23514"))
        #expect(ReasonCode(PostgresError(.connection, "")) == .databaseUnavailable)
        #expect(ReasonCode(PostgresError(.timeout, "")) == .databaseTimeout)
        #expect(ReasonCode(PostgresError(.cancelled, "")) == .cancelled)
        #expect(ReasonCode(PostgresError(.decoding, "")) == .databaseDecoding)
        #expect(ReasonCode(PostgresError(.unsupported, "")) == .databaseUnsupported)
    }

    @Test("have an entry in the runbook, each of them, and it has entries for no others")
    func runbook() throws {
        let text = try String(contentsOf: packageRoot.appending(path: "deploy/runbook.md"), encoding: .utf8)
        // What stands in backquotes in the first column of a table.
        let entries = text.split(separator: "\n").filter { $0.hasPrefix("| `") }.flatMap { line in
            line.dropFirst(2).prefix { $0 != "|" }.matches(of: /`([^`]+)`/).map { String($0.output.1) }
        }
        let codes = ReasonCode.named.map(\.rawValue) + ["sqlstate_…"]
        #expect(Set(codes).subtracting(entries).isEmpty, "without an entry")
        for entry in Set(entries).subtracting(codes) {
            // Single answers of PostgreSQL may have entries of their own.
            guard case .sqlState = ReasonCode(rawValue: entry) else {
                Issue.record("the runbook has an entry for \(entry), which is no reason code")
                continue
            }
        }
    }
}
