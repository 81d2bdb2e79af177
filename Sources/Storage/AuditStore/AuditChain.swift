/// Holds rows of the audit, one after the other, against what each says of the one before. No I/O.
package struct AuditChain: Sendable, Hashable {
    /// The last row that fits.
    package private(set) var last: AuditMark
    /// How many rows were held against each other.
    package private(set) var count: Int64 = 0
    /// The places of the rows with an erased text, as ranges.
    package private(set) var erased: [ClosedRange<Int64>] = []
    /// How many these are, also where there are more ranges than are kept.
    package private(set) var erasedCount: Int64 = 0

    /// The most ranges of ``erased`` that are kept: an audit of any length is verified in bounded memory.
    package static let mostRanges = 1000

    /// - Parameter last: the row before the first one to be added.
    package init(after last: AuditMark = .start) { self.last = last }

    /// Adds the next row.
    /// - Throws: ``AuditFault`` where it is not the one that was written there. Then nothing is added.
    package mutating func add(_ row: AuditRow) throws(AuditFault) {
        let next = last.place + 1
        guard row.place == next else { throw .missing(next, through: row.place - 1) }
        guard row.computedHash() == row.hash else { throw .changed(next) }
        guard row.previous == last.hash else { throw last.place == 0 ? .changed(next) : .replaced(last.place) }
        switch row.text {
        case .none, .kept: guard row.text.digest == row.textDigest else { throw .textChanged(next) }
        case .lost: throw .textLost(next)
        case .erased: note(erased: next)
        }
        last = AuditMark(place: next, hash: row.hash)
        count += 1
    }

    private mutating func note(erased place: Int64) {
        erasedCount += 1
        if let range = erased.last, range.upperBound + 1 == place {
            erased[erased.count - 1] = range.lowerBound...place
        } else if erased.count < Self.mostRanges {
            erased.append(place...place)
        }
    }
}
