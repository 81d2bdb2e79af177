import Synchronization

/// A number that a test sets and a server reads.
final class SharedNumber: Sendable {
    private let number = Mutex(0)
    var value: Int {
        get { number.withLock { $0 } }
        set { number.withLock { $0 = newValue } }
    }
}
