package import Figures

/// A change of a row since its month was closed. The closed values and all corrections add up to the current values.
package struct FigureCorrection: Sendable, Hashable {
    /// The month.
    package let month: ClosingMonth
    /// The recorded row; nil where the row was added later.
    package let was: FigureRow?
    /// The current row; nil where the row was removed.
    package let now: FigureRow?
}
