import Foundation
import Postgres
import Simulation
import TestSupport
import Testing

/// What is asked of a database of any size is answered by index. Looked at in one that is large enough for the planner to
/// scan it where it has nothing better, and small enough to be filled in seconds.
@Suite("The documented reads")
struct DocumentedReadTests {
    private static let state = SimulatedState(subscriptions: 16_000, oneTimePurchases: 4000)

    /// What grows with the number of purchases. The queue, open dead letters and contradictions are as many as there is
    /// trouble, and may be read whole.
    private static let large: Set<String> = [
        "notifications", "one_time_purchases", "outbox", "purchase_facts", "purchase_lines", "renewals",
        "subscription_history", "subscriptions", "transactions",
    ]

    private static func withFilledDatabase(
        _ body: (PostgresConnection, [DocumentedRead.Subject]) async throws -> Void
    ) async throws {
        try await withSchema { connection, _ in
            try await connection.withTransaction { session in
                try session.executeScript(state.script, deadline: .seconds(120))
            }
            try await connection.query("vacuum (analyze)", deadline: .seconds(120))
            let numbers = (0..<20).map { Int64($0 * 997) }
            let subjects = try await connection.query(DocumentedRead.subjects(numbers, of: state))
                .map { try DocumentedRead.Subject($0) }
            try await body(connection, subjects)
        }
    }

    /// The growing tables that a read reads every row of, and the most pages that it read. The first answer, which reads the catalog too, is
    /// left out.
    private func look(
        _ read: DocumentedRead, _ subjects: [DocumentedRead.Subject], _ connection: PostgresConnection
    ) async throws -> (scanned: Set<String>, pages: Int) {
        var plans: [QueryPlan] = []
        for subject in subjects { plans.append(try QueryPlan(try await connection.query(read.explain(subject)))) }
        let later = plans.dropFirst()
        return (Set(later.flatMap(\.scannedTables)).intersection(Self.large), later.map(\.pages).max() ?? 0)
    }

    @Test(
        "find what they ask for by index, and access in fewer than 60 pages; where an index is missing they are seen to scan"
    )
    func byIndex() async throws {
        try await Self.withFilledDatabase { connection, subjects in
            try #require(subjects.count == 20)
            for read in DocumentedRead.all {
                let seen = try await look(read, subjects, connection)
                #expect(seen.scanned.isEmpty, "\(read.name)")
                // A list of ten reads some ten pages for each.
                #expect(seen.pages < (read.isAccessCheck ? 60 : 300), "\(read.name)")
            }

            try await connection.query("drop index storehook.one_time_purchases_by_account")
            let checks = DocumentedRead.all.filter(\.isAccessCheck)
            let byFunction = try #require(checks.first)
            let byStatement = try #require(checks.last)
            #expect(try await look(byStatement, subjects, connection).scanned == ["one_time_purchases"])
            // What a function does inside does not show in the plan of who calls it, but in the pages it reads.
            #expect(try await look(byFunction, subjects, connection).pages > 60)
        }
    }
}
