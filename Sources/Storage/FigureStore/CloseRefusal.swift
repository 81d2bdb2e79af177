package import Figures

/// The reason why a month was not closed, or not opened again. Nothing was changed.
package enum CloseRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// Its last day has not ended.
    case running(ClosingMonth)
    /// No figure was summed yet.
    case unsummed(ClosingMonth)
    /// Notifications have waited for some time. They may be about the month.
    case waiting(ClosingMonth)
    /// A commission table was applied, and no worker sums by it yet.
    case changing(ClosingMonth)
    /// It is not proven that all of Apple's notifications until its end are here.
    case unproven(ClosingMonth)
    /// It is closed already.
    case closed(ClosingMonth)
    /// It is not closed.
    case notClosed(ClosingMonth)

    /// One line: what happened, and what to do.
    package var description: String {
        switch self {
        case .running(let month): "\(month) has not ended, so that it was not closed; close it afterwards"
        case .unsummed(let month):
            "no figure was summed yet, so that \(month) was not closed; a worker does that within minutes of its first start: close it then"
        case .waiting(let month):
            "notifications have waited for more than a minute, and may be about \(month), so that it was not closed; close it when "
                + "storehook queue shows none"
        case .changing(let month):
            "workers do not sum by the last commission table yet, so that \(month) was not closed; close it in a minute"
        case .unproven(let month):
            "it is not proven that all notifications of \(month) are here, so that it was not closed; storehook reconcile asks Apple for "
                + "them, and --unproven with a reason closes it all the same"
        case .closed(let month):
            "\(month) is closed already; storehook figures reopen \(month) --why REASON opens it again"
        case .notClosed(let month): "\(month) is not closed, so that there is nothing to open again"
        }
    }
}
