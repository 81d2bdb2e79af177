import Base
import Postgres
import Testing

@testable import EvidenceStore
@testable import Operations

@Suite("Answers for people")
struct AnswerTests {
    @Test(
        "give ages in the largest unit that says something",
        arguments: [
            (Duration.milliseconds(900), "0 s"), (.seconds(59), "59 s"), (.seconds(60), "1 min"),
            (.seconds(7199), "119 min"),
            (.seconds(7200), "2 h"), (.seconds(172_799), "47 h"), (.seconds(172_800), "2 d"), (.seconds(-3), "-3 s"),
        ])
    func age(length: Duration, text: String) {
        #expect(length.age == text)
    }

    @Test("list dead letters with how many there are by reason, also of those that are not shown")
    func letters() {
        let at = PostgresTimestamp(millisecondsSince1970: 1_767_225_600_000)
        let letter = DeadLetter(
            id: 7, outboxID: 1, notificationUUID: nil, type: "TEST", subtype: nil, category: .unverified,
            reason: "malformed", message: "no JWS", attempts: 1, receivedAt: at, deadAt: at, resolution: .open,
            resolvedAt: nil, resolvedBy: nil, resolvedWhy: nil)
        func last(_ counts: [(String, Int64)]) -> Substring? {
            CommandAnswer([letter], counts: counts.map { (reason: $0, count: $1) }).text.split(separator: "\n").last
        }
        #expect(last([("malformed", 1)]) == "1 open: 1 malformed")
        #expect(
            last([("malformed", 2), ("revoked", 1)])
                == "3 open: 2 malformed, 1 revoked; shown are the oldest 1, --limit shows more")
        #expect(CommandAnswer([DeadLetter](), counts: []).text == "no open dead letters")
    }

    @Test("of a demonstration need its own notifications in their places, whatever a shop posts or died before")
    func demonstration() {
        func sums(_ received: Int64, dead: Int64) -> Conservation {
            Conservation(
                received: received, pending: 0, applied: received - dead, duplicate: 0, parked: 0, dead: dead,
                discarded: 0, missing: 0, doubled: 0)
        }
        func report(lost: Int, dead: Int) -> DemoReport {
            DemoReport(
                posted: 50, accepted: 50, lost: lost, dead: dead, besideShop: true, before: sums(100, dead: 3),
                after: sums(200, dead: 4))
        }
        #expect(report(lost: 0, dead: 0).isWhole)
        #expect(report(lost: 0, dead: 0).lines.contains("50 of them the shop's"))
        #expect(!report(lost: 1, dead: 0).isWhole)
        #expect(report(lost: 1, dead: 0).lines.contains("1 of those that were posted are in no place"))
        #expect(!report(lost: 0, dead: 2).isWhole)
        #expect(report(lost: 0, dead: 2).lines.contains("2 of those that were posted died"))
    }

    @Test("stand in columns as wide as they need to be, numbers to the right, nothing after the last word")
    func table() {
        var table = Table(["NAME", "N", "WHY"], numeric: [1])
        table.add(["a", "100", "because"])
        table.add(["longer", "7", ""])
        #expect(
            table.text == """
                NAME      N  WHY
                a       100  because
                longer    7
                """)
    }
}
