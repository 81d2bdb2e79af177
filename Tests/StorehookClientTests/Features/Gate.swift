/// Holds callers until a test lets them pass.
actor Gate {
    private var isOpen = false
    private var held: [CheckedContinuation<Void, Never>] = []
    private var watchers: [CheckedContinuation<Void, Never>] = []
    private var hasArrived = false

    /// Waits until the gate is open.
    func wait() async {
        hasArrived = true
        for watcher in watchers { watcher.resume() }
        watchers = []
        guard !isOpen else { return }
        await withCheckedContinuation { held.append($0) }
    }

    /// Waits until a caller has come to the gate.
    func arrived() async {
        guard !hasArrived else { return }
        await withCheckedContinuation { watchers.append($0) }
    }

    /// Lets all pass from now on.
    func open() {
        isOpen = true
        for caller in held { caller.resume() }
        held = []
    }
}
