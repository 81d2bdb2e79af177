import Synchronization

/// Progress on standard error where the total is unknown: one line that is overwritten on a terminal, a line every few
/// seconds elsewhere.
final class CountingLine: Sendable {
    private struct State {
        var counts: (Int, Int?) = (0, nil)
        var note = ""
        var shownAt: ContinuousClock.Instant?
    }
    private let state = Mutex(State())
    private let label: String
    private let isTerminal = StandardError.isTerminal

    init(_ label: String) { self.label = label }

    /// So many more.
    func advance(_ first: Int, _ second: Int? = nil, _ note: String = "") {
        let line = state.withLock { state -> String? in
            state.counts.0 += first
            if let second { state.counts.1 = (state.counts.1 ?? 0) + second }
            state.note = note
            let interval = Duration.milliseconds(isTerminal ? 100 : 5000)
            if let shownAt = state.shownAt, ContinuousClock.now - shownAt < interval { return nil }
            state.shownAt = .now
            return text(state)
        }
        if let line { StandardError.write(isTerminal ? "\r\(line)" : "\(line)\n") }
    }

    /// Nothing more will come.
    func finish() {
        let line = state.withLock { $0.shownAt == nil ? nil : text($0) }
        if isTerminal, let line { StandardError.write("\r\(line)\n") }
    }

    private func text(_ state: State) -> String {
        let counts = ([state.counts.0] + [state.counts.1].compactMap(\.self)).map(String.init).joined(separator: ", ")
        let text = "\(label): \(counts)" + (state.note.isEmpty ? "" : "; \(state.note)")
        // As wide as what it is written over.
        return text + String(repeating: " ", count: max(0, 60 - text.count))
    }
}
