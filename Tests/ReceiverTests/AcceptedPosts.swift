import Synchronization

/// What senders were answered 200 for.
final class AcceptedPosts: Sendable {
    private let posts = Mutex<Set<String>>([])

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
