import Synchronization

/// What senders were answered 200 for, and whether they go on.
final class AcceptedPosts: Sendable {
    private let posts = Mutex<Set<String>>([])

    private let isClosed = Atomic(false)

    /// Whether no more are wanted.
    var isOver: Bool { isClosed.load(ordering: .relaxed) }

    /// Says that no more are wanted.
    func close() { isClosed.store(true, ordering: .relaxed) }

    /// All of them so far.
    var all: Set<String> { posts.withLock { $0 } }

    /// Adds one and tells how many there are.
    @discardableResult
    func insert(_ post: String) -> Int {
        posts.withLock { posts in
            posts.insert(post)
            return posts.count
        }
    }
}
