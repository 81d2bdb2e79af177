import AppStorePayloads
import Base
package import EvidenceStore
import Foundation
import Postgres
import PurchaseStore
import Subscriptions

/// Open dead letters for people: those that were asked for, and how many there are of each reason.
package struct DeadLetterList: Sendable {
    private let letters: [DeadLetter]
    private let counts: [(reason: String, count: Int64)]

    /// A list.
    /// - Parameters:
    ///   - letters: those to show, the oldest first.
    ///   - counts: of all that the same filter names, also of those that are not shown, the most frequent reason first.
    package init(_ letters: [DeadLetter], counts: [(reason: String, count: Int64)]) {
        self.letters = letters
        self.counts = counts
    }

    /// A line a letter; then how many there are, by reason.
    package var text: String {
        guard !letters.isEmpty else { return "no open dead letters" }
        var table = Table(["ID", "DEAD SINCE", "REASON", "TYPE", "TRIES", "NOTIFICATION", "MESSAGE"], numeric: [0, 4])
        for letter in letters {
            table.add([
                "\(letter.id)", Timestamp(letter.deadAt).description, letter.reason,
                letter.type ?? (letter.kind == .notification ? "-" : letter.kind.words),
                "\(letter.attempts)", letter.notificationUUID?.uuidString.lowercased() ?? "-", letter.message,
            ])
        }
        let total = counts.reduce(0) { $0 + $1.count }
        let reasons = counts.map { "\($0.count) \($0.reason)" }.joined(separator: ", ")
        let rest = total > Int64(letters.count) ? "; shown are the oldest \(letters.count), --limit shows more" : ""
        return table.text + "\n\n\(total) open: \(reasons)\(rest)"
    }
}
