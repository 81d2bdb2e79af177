import Base
package import FigureStore

extension CommandAnswer {
    /// The result of applying a file of settings for figures.
    /// - Parameters:
    ///   - title: the name of the kind of file.
    ///   - next: what happens to figures next.
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
