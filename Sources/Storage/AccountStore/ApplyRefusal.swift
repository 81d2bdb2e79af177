/// Why a catalog was not made current.
package enum ApplyRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// Another catalog is being prepared by now.
    case superseded
    /// Another transaction blocked it for so long, and no account has changed. `by` describes that transaction as far
    /// as this database user may see it.
    case heldUp(seconds: Int64, by: String?)

    /// One line: what happened, and what to do.
    package var description: String {
        switch self {
        case .superseded:
            "another catalog is being applied, so that this one was not made current; apply it again afterwards if it is meant"
        case .heldUp(let seconds, let holder):
            "a transaction that changes purchases or accounts has stood in the way for \(seconds) seconds"
                + (holder.map { " (\($0))" } ?? "")
                + ", so that nothing was changed; let it end or end it with pg_terminate_backend, then apply the catalog again, "
                + "or wait for longer with --patience"
        }
    }
}
