package import AppleRecords
package import Base
import Postgres

extension CommandAnswer {
    /// What was due and was not heard of, by age.
    package init(_ counts: DueCounts) {
        let shape = CommandShape<DueCounts.Line>.due
        var members: [JSONValue.Member] = [.init("ages", shape.values(of: counts.lines))]
        if let due = counts.due { members.append(.init("due", due.json)) }
        if let at = counts.dueCountedAt { members.append(.init("due_counted_at", at.json)) }
        members.append(.init("alert", .bool(counts.isAlarming)))
        self.init(
            .object(members), text: shape.table(of: counts.lines) + "\n\n" + Self.said(of: counts),
            csv: shape.csv(of: counts.lines))
    }

    private static func said(of counts: DueCounts) -> String {
        guard let due = counts.due, counts.unheardAtSixHours != nil else {
            return "not counted yet: a worker (storehook work) counts every few minutes"
        }
        let all = "\(due) \(due == 1 ? "was" : "were") due from a day to an hour ago, heard of or not"
        guard counts.isAlarming else { return all }
        return all
            + "\nmore than a twentieth of that is not heard of six hours later: Apple's posts may not arrive; see StorehookDueUnheard in deploy/runbook.md"
    }

    /// Ends about which nothing was heard, a page or several.
    package init(_ page: ListPage<UnheardEnd>) { self.init(page, "ends", .unheard) }
}

extension CommandShape<DueCounts.Line> {
    fileprivate static var due: Self {
        .init([
            .init("age", column: "AGE", \.age), .init("unheard", column: "NOT HEARD OF", \.unheard),
            .init("imported", column: "IMPORTED", \.imported), .init("counted_at", column: "COUNTED", \.countedAt),
        ])
    }
}

extension CommandShape<UnheardEnd> {
    fileprivate static var unheard: Self {
        .init([
            .init("ends_at", column: "WAS DUE", \.endsAt), .init("age", column: "AGE", \.age),
            .init("kind", column: "WHAT", \.kind),
            .init("original_transaction_id", column: "PURCHASE", \.originalTransactionID),
            .init("bundle_id", column: "APP", \.bundleID), .init("product_id", column: "PRODUCT", \.productID),
            .init("imported", column: "IMPORTED", \.isImported),
        ])
    }
}
