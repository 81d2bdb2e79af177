import Dispatch
import Glibc
import Synchronization

/// The thread of one connection, on which its actor runs: libpq may block it without blocking other tasks.
///
/// Its states:
/// - running: a pthread takes jobs in order. Can transition to: retiring.
/// - retiring: as running, but the pthread ends once no job is left. Can transition to: retired.
/// - retired: the pthread has ended; later jobs (calls on a closed connection) run on a dispatch queue, which is
///   enough, as nothing blocks any more.
final class ConnectionThread: SerialExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isRetiring = false
        var fallback: DispatchQueue?
    }

    private let state = Mutex(State())
    /// Counts the jobs and the order to retire, so that the thread sleeps exactly while it has nothing to do.
    private let signal = DispatchSemaphore(value: 0)
    private let name: String

    private init(name: String) {
        self.name = name
    }

    /// Starts a thread; `name` is cut to the 15 bytes that the kernel keeps.
    static func start(name: String) throws(PostgresError) -> ConnectionThread {
        let thread = ConnectionThread(name: String(decoding: name.utf8.prefix(15), as: UTF8.self))
        let started = startPthread {
            nameThisThread(thread.name)
            thread.run()
        }
        guard started else {
            throw PostgresError(
                .connection, "no thread could be started for the connection; check the limit of threads")
        }
        return thread
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let fallback = state.withLock { state -> DispatchQueue? in
            if let fallback = state.fallback { return fallback }
            state.jobs.append(job)
            return nil
        }
        if let fallback {
            fallback.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        } else {
            signal.signal()
        }
    }

    /// Lets the thread end after the jobs that it has.
    func retire() {
        state.withLock { $0.isRetiring = true }
        signal.signal()
    }

    private func run() {
        while true {
            signal.wait()
            let next = state.withLock { state -> UnownedJob? in
                if !state.jobs.isEmpty { return state.jobs.removeFirst() }
                // Jobs that arrive between the order to retire and this point have each been signalled, and come first.
                if state.isRetiring { state.fallback = DispatchQueue(label: name) }
                return nil
            }
            guard let next else {
                if state.withLock({ $0.fallback != nil }) { return }
                continue
            }
            next.runSynchronously(on: asUnownedSerialExecutor())
        }
    }
}

/// Gives the calling thread the name that `ps` and `top` show. By way of procfs, as glibc hides its call from Swift;
/// where there is no procfs the thread stays nameless.
private func nameThisThread(_ name: String) {
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    _ = write(file, name, name.utf8.count)
    close(file)
}
