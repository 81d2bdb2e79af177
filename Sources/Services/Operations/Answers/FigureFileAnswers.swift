import Base
package import FigureStore

extension CommandAnswer {
    /// What became of a file by which figures go.
    /// - Parameters:
    ///   - title: what it is called.
    ///   - next: what becomes of the figures by it.
    package init(_ applied: FigureFileApplication, _ title: String, next: String) {
        self.init(
            applied, .file,
            text: applied.isNew
                ? "\(title) \(applied.version) counts now; \(next)"
                : "this is \(title) \(applied.version), which counts already")
    }
}

extension CommandShape<FigureFileApplication> {
    fileprivate static var file: Self { .init([.init("version", \.version), .init("is_new", \.isNew)]) }
}
