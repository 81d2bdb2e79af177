import Base
package import FigureStore

extension CommandAnswer {
    /// What became of a commission table.
    package init(_ applied: CommissionApplication) {
        self.init(
            applied, .commission,
            text: applied.isNew
                ? "commission table \(applied.version) counts now; a worker estimates proceeds anew"
                : "this is commission table \(applied.version), which counts already")
    }
}

extension CommandShape<CommissionApplication> {
    fileprivate static var commission: Self { .init([.init("version", \.version), .init("is_new", \.isNew)]) }
}
