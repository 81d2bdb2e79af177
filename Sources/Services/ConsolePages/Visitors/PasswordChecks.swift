import APIKit
import AccountStore
import Base
import Dispatch
import Staff
import Synchronization

/// Works out hashes of passwords, one after the other and on a thread of its own: each takes a fifth of a second and 32 MiB on purpose. So a
/// flood of logins takes one core and the memory of one hash, and pages are answered meanwhile.
final class PasswordChecks: Sendable {
    /// As many as may wait are waiting.
    struct Busy: Error {}

    /// How many wait at most.
    static let mostWaiting = 16
    /// How many of them come from addresses without a successful login: the other places are kept for addresses that have had one.
    static let mostOfStrangers = 12
    /// How many of one address.
    static let mostOfOne = 2

    private struct State {
        var waiting = 0
        var ofAddresses: [NetworkAddress?: Int] = [:]
        var known = BoundedTable<NetworkAddress?, Bool>(most: 2000)
    }

    private let queue = DispatchQueue(label: "storehook.passwords", qos: .utility)
    private let state = Mutex(State())

    /// Whether a hash is that of a password.
    /// - Parameter hash: nil where there is no such account, or none with a password; the answer takes as long.
    /// - Throws: ``Busy``.
    func matches(
        _ password: StaffPassword, _ hash: PasswordHash?, from address: NetworkAddress?
    ) async throws(Busy) -> Bool {
        let isTaken = state.withLock { state in
            let most = state.known.value(of: address) == true ? Self.mostWaiting : Self.mostOfStrangers
            guard state.waiting < most, state.ofAddresses[address, default: 0] < Self.mostOfOne else { return false }
            state.waiting += 1
            state.ofAddresses[address, default: 0] += 1
            return true
        }
        guard isTaken else { throw Busy() }
        let matches: Bool = await withCheckedContinuation { continuation in
            queue.async {
                let isEqual = (hash ?? Self.decoy)?.matches(password) ?? false
                continuation.resume(returning: hash != nil && isEqual)
            }
        }
        state.withLock { state in
            state.waiting -= 1
            let rest = state.ofAddresses[address, default: 1] - 1
            state.ofAddresses[address] = rest > 0 ? rest : nil
            if matches { state.known.put(true, for: address) }
        }
        return matches
    }

    /// What passwords of unknown accounts are held against: no password has this key.
    private static let decoy = PasswordHash(
        "$scrypt$ln=15,r=8,p=3$" + String(repeating: "A", count: 22) + "$" + String(repeating: "A", count: 43))
}
