#if canImport(Combine)
    public import Combine
#endif

/// What a screen shows: a value that is replaced whenever something changes, and all who listen to it.
///
/// It runs on the main actor. Where there is Combine it is an `ObservableObject`, so that a SwiftUI view may observe it.
@MainActor
public class ScreenModel<Snapshot: Sendable & Equatable> {
    #if canImport(Combine)
        /// Sends before each change of ``snapshot``.
        public nonisolated var objectWillChange: ObservableObjectPublisher { willChange.publisher }
        private let willChange = WillChange()
    #endif

    /// What the screen shows now.
    public private(set) var snapshot: Snapshot

    let plan: any PlanProvider
    let texts: ClientTexts
    private let listeners = Snapshots<Snapshot>()
    private var watching: Task<Void, Never>?

    init(_ snapshot: Snapshot, _ plan: any PlanProvider, _ texts: ClientTexts) {
        self.snapshot = snapshot
        self.plan = plan
        self.texts = texts
        let changes = plan.changes
        watching = Task { [weak self] in
            for await _ in changes { self?.update() }
        }
    }

    /// Each snapshot from now on, the present one first. A reader that is slow gets the newest.
    public var snapshots: AsyncStream<Snapshot> { listeners.stream(from: snapshot) }

    /// What the screen has to show now.
    func made() -> Snapshot { snapshot }

    /// Replaces the snapshot where it is not the same any more.
    final func update() {
        let new = made()
        guard new != snapshot else { return }
        #if canImport(Combine)
            objectWillChange.send()
        #endif
        snapshot = new
        listeners.send(new)
    }

    deinit { watching?.cancel() }
}

#if canImport(Combine)
    extension ScreenModel: ObservableObject {}
#endif
