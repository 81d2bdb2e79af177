import APIKit
import Base
import Synchronization

/// How often a visitor may try to log in.
///
/// Each address has a rate. Beside it, an address that has failed with an account waits longer each time, with that account. No other address
/// does, so that an attacker cannot lock out others. What is remembered is bounded; what was longest ago is forgotten first.
final class LoginLimits: Sendable {
    private struct Pair: Hashable {
        let address: NetworkAddress?
        let account: String
    }

    private struct Failures {
        var count = 0
        var until: ContinuousClock.Instant
    }

    /// How many failures of an address with an account cost nothing more.
    private static let free = 5
    /// How long the first failure beyond keeps the address from that account; each further one twice as long.
    private static let first: Duration = .seconds(30)
    /// How long it may become.
    private static let longest: Duration = .seconds(900)

    private let clock: @Sendable () -> ContinuousClock.Instant
    private let addresses: RateLimit<NetworkAddress?>
    private let pairs = Mutex(BoundedTable<Pair, Failures>(most: 20_000))

    /// - Parameter perMinute: how many tries an address has in the long run.
    init(
        perMinute: Int = 10, burst: Int = 10,
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.clock = clock
        addresses = RateLimit(perMinute: perMinute, burst: burst, most: 20_000, clock: clock)
    }

    /// Counts a try.
    /// - Returns: nil where it may be; else after how long the next one may be.
    func refusal(of account: String, from address: NetworkAddress?) -> Duration? {
        if let rest = addresses.refusal(of: address) { return rest }
        let now = clock()
        return pairs.withLock { pairs in
            guard let failures = pairs.value(of: Pair(address: address, account: account.lowercased())),
                failures.until > now
            else { return nil }
            return failures.until - now
        }
    }

    /// Notes that a try has failed.
    func failed(_ account: String, from address: NetworkAddress?) {
        let (now, pair) = (clock(), Pair(address: address, account: account.lowercased()))
        pairs.withLock { pairs in
            var failures = pairs.value(of: pair) ?? Failures(until: now)
            failures.count = min(failures.count + 1, 64)
            let beyond = failures.count - Self.free
            if beyond > 0 {
                failures.until = now + min(Self.first * (1 << min(beyond - 1, 16)), Self.longest)
            }
            pairs.put(failures, for: pair)
        }
    }

    /// Forgets the failures of an address with an account: the visitor there knows the password.
    func succeeded(_ account: String, from address: NetworkAddress?) {
        pairs.withLock { $0.remove(Pair(address: address, account: account.lowercased())) }
    }
}
