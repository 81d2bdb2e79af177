import Base
import Synchronization

/// Recently resolved names. Concurrent callers for one name wait for one answer, and a cancelled caller stops waiting.
/// Where the answer takes long, the former addresses are used: they were the name's, and are checked like any other.
final class ResolvedNames: Sendable {
    private struct Entry {
        var addresses: [NetworkAddress]?
        var until: ContinuousClock.Instant
        var isAsked = false
        var waiters: [Int: CheckedContinuation<[NetworkAddress]?, Never>] = [:]
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var waiters = 0
    }

    private let resolver: any AddressResolver
    private let age: Duration
    private let patience: Duration
    private let state = Mutex(State())

    /// How many names are kept beyond their age: endpoints come and go.
    private static let most = 1000

    /// - Parameters:
    ///   - age: for how long a name is not resolved again.
    ///   - patience: how long a caller waits for a new answer where there is an old one.
    init(_ resolver: any AddressResolver, age: Duration, patience: Duration = .seconds(2)) {
        self.resolver = resolver
        self.age = age
        self.patience = patience
    }

    /// The addresses of a name; nil where the caller was cancelled meanwhile.
    func addresses(of name: String) async -> [NetworkAddress]? {
        let number = state.withLock { state in
            state.waiters += 1
            return state.waiters
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (answer, asks, hasOld): ([NetworkAddress]??, Bool, Bool) = state.withLock { state in
                    var entry = state.entries[name] ?? Entry(until: .now)
                    if let addresses = entry.addresses, entry.until > .now { return (.some(addresses), false, false) }
                    if Task.isCancelled { return (.some(nil), false, false) }
                    entry.waiters[number] = continuation
                    defer { entry.isAsked = true; state.entries[name] = entry }
                    return (nil, !entry.isAsked, entry.addresses?.isEmpty == false)
                }
                if let answer { continuation.resume(returning: answer) }
                if asks { Task { await ask(name) } }
                if hasOld { Task { await giveOld(number, name) } }
            }
        } onCancel: {
            state.withLock { $0.entries[name]?.waiters.removeValue(forKey: number) }?.resume(returning: nil)
        }
    }

    private func giveOld(_ number: Int, _ name: String) async {
        try? await Task.sleep(for: patience)
        let (waiter, old) = state.withLock { state in
            (state.entries[name]?.waiters.removeValue(forKey: number), state.entries[name]?.addresses)
        }
        waiter?.resume(returning: old ?? [])
    }

    /// Makes the next caller resolve the name anew.
    func forget(_ name: String) {
        state.withLock { $0.entries[name]?.until = .now }
    }

    private func ask(_ name: String) async {
        let found = await resolver.addresses(of: name)
        let waiters = state.withLock { state in
            if state.entries.count > Self.most {
                state.entries = state.entries.filter { $0.value.isAsked || $0.value.until > .now }
            }
            let waiters = state.entries[name]?.waiters.values.map(\.self) ?? []
            state.entries[name] = Entry(addresses: found, until: .now + (found.isEmpty ? .zero : age))
            return waiters
        }
        for waiter in waiters { waiter.resume(returning: found) }
    }
}
