/// One page of a list that Apple gives page by page.
public protocol AnswerPage: Sendable {
    /// Whether there is another page.
    var hasMore: Bool { get }
    /// What asks for it.
    var nextPage: String? { get }
}
