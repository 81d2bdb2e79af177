package import Figures

/// Why a month was not closed, or not opened again. Nothing was changed.
package enum CloseRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// Its last day has not ended.
    case running(FigureMonth)
    /// Something of it changed and is not summed yet.
    case pending(FigureMonth)
    /// It is not proven that all of Apple's notifications until its end are here.
    case unproven(FigureMonth)
    /// It is closed already.
    case closed(FigureMonth)
    /// It is not closed.
    case open(FigureMonth)

    /// One line: what happened, and what to do.
    package var description: String {
        switch self {
        case .running(let month): "\(month) has not ended, so that it was not closed; close it afterwards"
        case .pending(let month):
            "of \(month) something changed that is not summed yet, so that it was not closed; a worker sums it within seconds: close it then"
        case .unproven(let month):
            "it is not proven that all notifications of \(month) are here, so that it was not closed; storehook reconcile asks Apple for "
                + "them, and --unproven with a reason closes it all the same"
        case .closed(let month):
            "\(month) is closed already; storehook figures reopen \(month) --why REASON opens it again"
        case .open(let month): "\(month) is not closed, so that there is nothing to open again"
        }
    }
}
