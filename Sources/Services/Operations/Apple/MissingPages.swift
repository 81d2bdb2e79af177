package import AppStoreServerAPI
package import Base

/// That a list of Apple's was not read to its end.
package struct MissingPages: Sendable, CustomStringConvertible {
    /// How many pages were read.
    let count: Int
    /// Why not the next.
    let why: AppStoreFailure
    /// What Apple calls the next page; nil where the list has to be begun again.
    let next: String?
    /// Where the others are from, hence the next as well.
    let environment: Environment

    /// The pages after so many.
    package init(after count: Int, why: AppStoreFailure, next: String?, environment: Environment) {
        self.count = count
        self.why = why
        // For a line that is typed: it is Apple's word, and a shell must read it as one.
        self.next = next.flatMap { $0.wholeMatch(of: /[A-Za-z0-9_.:+\/=-]{1,1000}/) != nil ? $0 : nil }
        self.environment = environment
    }

    /// One line: which page failed and how to go on.
    package var description: String {
        let way =
            next.map { "the same command with --environment \(environment) --revision=\($0) goes on there" }
            ?? "the same command begins again"
        return "page \(count + 1) failed, and the \(count) before it \(count == 1 ? "is" : "are") shown: \(why); \(way)"
    }

    static let shape = CommandShape<MissingPages>([
        .init("page") { $0.count + 1 }, .init("code", \.why.code), .init("message", \.why.message),
        .init("revision", \.next),
    ])
}
