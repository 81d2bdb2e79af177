import Dispatch
import Foundation
import Synchronization

/// A stack with room for the deepest text that the parser of YAML allows, a thousand levels. The parser calls itself for each level,
/// and so does releasing its nodes: on the stack of an ordinary thread that ends the process.
package enum LargeStack {
    /// Runs a body on a thread of its own and waits for it. The body must not return nodes.
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
