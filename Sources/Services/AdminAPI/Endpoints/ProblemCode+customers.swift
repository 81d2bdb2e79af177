import APIKit
import AccountStore
import Base
import HTTPTypes

extension ProblemCode {
    /// There is no such search, or it is another member's, or too old.
    static let noSearch = ProblemCode(.notFound, "search_not_found", "There is no such search")
    /// There is no such filter, or it is about another app.
    static let noFilter = ProblemCode(.notFound, "filter_not_found", "There is no such filter")
    /// The list has a filter of this name.
    static let filterTaken = ProblemCode(.conflict, "filter_exists", "There is a filter of this name")
    /// There are as many filters as there may be.
    static let tooManyFilters = ProblemCode(.conflict, "too_many_filters", "There are too many filters")
}

extension SavedFilterRefusal {
    /// The problem that it is.
    var problem: APIProblem {
        switch self {
        case .taken: APIProblem(.filterTaken, "the list has a filter of this name")
        case .full(let most):
            APIProblem(
                .tooManyFilters, ProblemText(english: "there are \(most) filters: remove one that nobody uses"))
        }
    }
}
