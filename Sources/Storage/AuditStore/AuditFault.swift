/// A row of the audit that was changed since it was written, or that is missing.
package enum AuditFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// Rows from the first place to the last are not there.
    case missing(Int64, through: Int64)
    /// A row does not have the hash that it should.
    case changed(Int64)
    /// A row stands in another place than the one that it was written at.
    case reordered(Int64, writtenAt: Int64)
    /// A row with a hash of its own was put in the place of the one that the next row names.
    case replaced(Int64)
    /// The personal text of a row is another one.
    case textChanged(Int64)
    /// The personal text of a row is neither there nor erased.
    case textLost(Int64)
    /// The rows behind the first place are not there, though there were rows through the last.
    case cut(after: Int64, through: Int64)
    /// A row stands behind the last one that was appended.
    case added(Int64)
    /// A row is another one than was exported.
    case exportedOtherwise(Int64)

    /// The first row that is wrong.
    package var place: Int64 {
        switch self {
        case .missing(let place, _), .changed(let place), .reordered(let place, _), .replaced(let place),
            .textChanged(let place), .textLost(let place), .added(let place), .exportedOtherwise(let place):
            place
        case .cut(let last, _): last + 1
        }
    }

    /// The word for scripts.
    package var code: String {
        switch self {
        case .missing: "missing"
        case .changed: "changed"
        case .reordered: "reordered"
        case .replaced: "replaced"
        case .textChanged: "text_changed"
        case .textLost: "text_lost"
        case .cut: "cut"
        case .added: "added"
        case .exportedOtherwise: "exported_otherwise"
        }
    }

    /// One line for people.
    package var description: String {
        switch self {
        case .missing(let first, let last):
            first == last ? "row \(first) is missing" : "rows \(first) to \(last) are missing"
        case .changed(let place): "row \(place) was changed: it does not have the hash of what it says"
        case .reordered(let place, let written):
            "row \(place) stands in the wrong place: it was written as row \(written)"
        case .replaced(let place):
            "row \(place) was replaced: row \(place + 1) was written after a row with another hash"
        case .textChanged(let place):
            "the text of row \(place) was changed: it does not have the digest that the row names"
        case .textLost(let place): "the text of row \(place) is missing, and no erasure took it"
        case .cut(let last, let known): "the rows after \(last) were cut off: there were rows through \(known)"
        case .added(let place): "row \(place) was not appended: it stands behind the audit's end"
        case .exportedOtherwise(let place): "row \(place) is another one than was exported"
        }
    }
}
