package import Figures

/// What changed about a row of a closed month: the sum of the closed values and of all corrections is what figures say now.
package struct FigureCorrection: Sendable, Hashable {
    /// The month.
    package let month: ClosingMonth
    /// The row that it counted; nil of one that was added since.
    package let was: FigureRow?
    /// The row that counts now; nil of one that was taken away since.
    package let now: FigureRow?
}
