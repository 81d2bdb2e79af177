import Synchronization

/// How far something is, on standard error: one line that is written over on a terminal, a line every ten per cent elsewhere.
final class ProgressBar: Sendable {
    private struct State {
        var done = 0
        var shown = -1
        let started = ContinuousClock.now
    }
    private let state = Mutex(State())
    private let label: String
    private let total: Int
    private let isTerminal = StandardError.isTerminal

    init(_ label: String, of total: Int) {
        self.label = label
        self.total = max(total, 1)
    }

    /// So many more are done.
    func advance(by count: Int = 1) {
        let line = state.withLock { state -> String? in
            state.done = min(state.done + count, total)
            // A terminal is written to at most a thousand times, whatever the total.
            let step = state.done * (isTerminal ? 1000 : 10) / total
            guard step > state.shown else { return nil }
            state.shown = step
            return text(state)
        }
        if let line { StandardError.write(isTerminal ? "\r\(line)" : "\(line)\n") }
    }

    /// Nothing more will come.
    func finish() {
        guard isTerminal else { return }
        StandardError.write("\r\(state.withLock { text($0) })\n")
    }

    private func text(_ state: State) -> String {
        let width = 30
        let filled = state.done * width / total
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        let elapsed = state.started.duration(to: .now) / .seconds(1)
        let rate = elapsed > 0 ? Int(Double(state.done) / elapsed) : 0
        let left = rate > 0 && state.done < total ? Self.time((total - state.done) / rate) : ""
        return "\(label) [\(bar)] \(state.done)/\(total)  \(rate)/s \(left)"
    }

    /// How long the rest will take at the rate so far, as wide as what it is written over.
    private static func time(_ seconds: Int) -> String {
        let text =
            seconds < 60
            ? "\(seconds) s left" : seconds < 3600 ? "\(seconds / 60) min left" : "\(seconds / 3600) h left"
        return text + String(repeating: " ", count: max(0, 12 - text.count))
    }
}
