import Dispatch
import Foundation
import Synchronization

/// A stack deep enough for the nesting of any text: the parser recurses for each level, of which it allows a thousand,
/// and so does the release of its nodes. On the stack of an ordinary thread that ends the process.
package enum DeepStack {
    /// Runs a body on a thread of its own and waits for it. The body must release all nodes before it returns.
    package static func run<T: Sendable>(_ body: @escaping @Sendable () -> T) -> T {
        let box = Box<T>()
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            let made = body()
            box.value.withLock { $0 = made }
            done.signal()
        }
        thread.stackSize = 64 << 20
        thread.start()
        done.wait()
        return box.value.withLock { $0 } ?? body()
    }
}

/// Passes the result from the thread to the one that waits.
private final class Box<T: Sendable>: Sendable {
    let value = Mutex<T?>(nil)
}
