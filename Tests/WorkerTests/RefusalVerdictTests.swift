import EvidenceStore
import Postgres
import Testing

@testable import Worker

@Suite("What becomes of a row that PostgreSQL refuses")
struct RefusalVerdictTests {
    @Test("follows from who is to blame, its attempts, and what is known about other rows")
    func verdicts() throws {
        func row(_ attempts: Int, _ state: SQLState, isAlone: Bool = true) -> RefusedRow {
            RefusedRow(
                .init(
                    claimed: .init(
                        id: 1, receivedAt: .init(millisecondsSince1970: 0), attempts: attempts, lapsed: false,
                        lastReason: nil, content: nil), verdict: .reschedule(.applyFailed)),
                PostgresError(.server(state), ""), isAlone: isAlone)
        }
        func verdict(
            _ refused: RefusedRow, spent: Bool = false, others: Bool, second: Bool? = false, age: Duration = .zero
        ) -> RefusalVerdict {
            RefusalVerdict(
                about: refused, isSpent: spent,
                note: second.map {
                    RefusalNote(age: age, areOthersApplied: others, areOthersSettled: others, hasSecond: $0)
                }, obstacle: .seconds(7))
        }
        let own = row(1, "22001")
        #expect(verdict(own, others: true) == .bury)
        #expect(verdict(own, others: true, second: true) == .count && verdict(own, others: false) == .count)
        #expect(verdict(own, others: true, second: nil) == .count)
        for others in [false, true] { #expect(verdict(own, spent: true, others: others, second: true) == .bury) }
        // No number of attempts, and no neighbour, buries for the database's fault.
        for state: SQLState in ["P0001", "55000", "XX001", "42501"] {
            #expect(verdict(row(1000, state), spent: true, others: false) == .wait(atMost: .seconds(7)))
            for (age, pause) in [(0, 1), (3, 3), (40, 30), (599, 30), (600, 600), (3000, 3000), (9999, 3600)] {
                #expect(
                    verdict(row(1000, state), spent: true, others: true, age: .seconds(age))
                        == .wait(atMost: .seconds(pause)))
            }
        }
        // Nor what was not tried alone, or passes.
        #expect(verdict(row(1000, "22001", isAlone: false), spent: true, others: true) == .wait(atMost: .seconds(7)))
        #expect(verdict(row(1, "55P03"), others: true) == .wait(atMost: .seconds(7)))
    }
}
