import Base
import NIOCore

/// Which connections are open, what each is doing and holds, and which is closed when there is no room. A value: no
/// I/O; the caller passes the clock.
///
/// A full table closes connections in this order:
/// 1. those that are silent, or do not read their answers;
/// 2. slow senders;
/// 3. idle keep-alives.
///
/// Within a class, the peer with most connections loses first. A connection that waits for an answer is never closed.
/// So a flood that holds all connections keeps no sender out.
struct ConnectionTable {
    /// What a connection is doing. Any transition but those from `leaving`, which is final, may be taken at any time.
    enum Phase: Int {
        /// It has not sent a byte. Can transition to: arriving, leaving.
        case silent
        /// A request is on its way. Can transition to: answering, idle, deaf, leaving.
        case arriving
        /// A request has arrived whole and waits for its answer. Can transition to: arriving, idle, deaf, leaving.
        case answering
        /// It was answered and is silent. Can transition to: arriving, deaf, leaving.
        case idle
        /// It does not read its answers, or sends further requests before it has them: no client that we serve does
        /// that. Can transition to: arriving, answering, idle, leaving.
        case deaf
        /// It is being closed, and no longer counts.
        case leaving
    }

    /// Limits of the table.
    struct Limits {
        /// Connections in all.
        var connections: Int
        /// Connections of one party that is not a trusted proxy.
        var connectionsPerParty: Int
        /// Bytes of unanswered requests, over all connections.
        var bytes: Int
        /// Bytes of unanswered requests of one party that is not a trusted proxy.
        var bytesPerParty: Int
    }

    /// Why there is no room.
    enum Bound: Hashable {
        case connections, party
    }

    /// The outcome for a new connection.
    enum Admission: Equatable {
        /// It is admitted. `yields` is the connection to close for it, if any, and the bound the reason.
        case admitted(Int, yields: Int?, Bound?)
        case refused(Bound)
    }

    private struct Entry {
        var party: NetworkAddress?
        var isTrusted: Bool
        var phase: Phase
        var since: NIODeadline
        var bytes = 0
        var previous: Int?
        var next: Int?
    }

    private struct Share {
        var connections = 0
        var bytes = 0
    }

    private let limits: Limits
    private var entries: [Entry?] = []
    private var free: [Int] = []
    /// The first and the last of each phase, in the order of entering it.
    private var ends: [(first: Int?, last: Int?)] = Array(repeating: (nil, nil), count: Phase.leaving.rawValue + 1)
    private var shares: [NetworkAddress: Share] = [:]
    /// How many are not leaving.
    private(set) var count = 0
    /// How many bytes all of them hold.
    private(set) var bytes = 0

    /// How long a request may take to begin or to arrive before it counts as slow. Apple's, of less than 20
    /// kB, take moments.
    static let patience = TimeAmount.seconds(1)

    /// How many connections of one party do not count as a flood.
    static let fewConnections = 8

    init(_ limits: Limits) { self.limits = limits }

    /// Admits a connection, if need be in place of another one, which the caller must close.
    mutating func add(from address: NetworkAddress?, isTrusted: Bool, at now: NIODeadline) -> Admission {
        let party = isTrusted ? nil : address?.party
        var yielding: Int?
        var bound: Bound?
        if let party, shares[party]?.connections ?? 0 >= limits.connectionsPerParty {
            guard let one = whoYields(at: now, of: party) else { return .refused(.party) }
            (yielding, bound) = (one, .party)
        } else if count >= limits.connections {
            guard let one = whoYields(at: now, of: nil) else { return .refused(.connections) }
            (yielding, bound) = (one, .connections)
        }
        if let yielding { leave(yielding) }
        let slot = free.popLast() ?? entries.endIndex
        let entry = Entry(party: party, isTrusted: isTrusted, phase: .silent, since: now)
        if slot == entries.endIndex { entries.append(entry) } else { entries[slot] = entry }
        append(slot, to: .silent)
        count += 1
        if let party { shares[party, default: Share()].connections += 1 }
        return .admitted(slot, yields: yielding, bound)
    }

    /// Records what a connection is doing now.
    mutating func move(_ slot: Int, to phase: Phase, at now: NIODeadline) {
        guard let old = entries[slot]?.phase, old != phase, old != .leaving else { return }
        unlink(slot)
        entries[slot]?.phase = phase
        entries[slot]?.since = now
        append(slot, to: phase)
    }

    /// Holds so many bytes more for a connection.
    /// - Returns: whether there is room for them, and the connections whose requests must be refused for them. A party
    ///   that has its share is refused, whatever the others leave.
    mutating func hold(_ more: Int, by slot: Int) -> (isHeld: Bool, yields: [Int]) {
        guard let entry = entries[slot], entry.phase != .leaving else { return (false, []) }
        if let party = entry.party, (shares[party]?.bytes ?? 0) + more > limits.bytesPerParty { return (false, []) }
        var yields: [Int] = []
        while bytes + more > limits.bytes {
            guard let one = whoGivesWay(to: slot, holding: entry.bytes + more) else { return (false, yields) }
            leave(one)
            yields.append(one)
        }
        count(more, of: slot)
        return (true, yields)
    }

    /// Releases bytes that a connection held.
    mutating func release(_ less: Int, by slot: Int) {
        guard let entry = entries[slot], entry.phase != .leaving else { return }
        count(-min(less, entry.bytes), of: slot)
    }

    /// Removes a closed connection, whichever side closed it.
    mutating func remove(_ slot: Int) {
        guard entries[slot] != nil else { return }
        leave(slot)
        unlink(slot)
        entries[slot] = nil
        free.append(slot)
    }

    /// Whether it is being closed.
    func isLeaving(_ slot: Int) -> Bool { entries[slot]?.phase == .leaving }

    /// The connection to close first: among one party's, or among all.
    private func whoYields(at now: NIODeadline, of party: NetworkAddress?) -> Int? {
        // A client that connected a moment ago and is about to send is silent, too, and better kept: parties with many
        // connections that wait for no answer lose theirs first.
        first(.deaf, of: party) { !$0.isTrusted }
            ?? first(.silent, of: party) { holdsMany($0) }
            ?? first(.silent, of: party) { $0.since + Self.patience <= now }
            ?? first(.arriving, of: party) { $0.since + Self.patience <= now && !$0.isTrusted }
            ?? first(.idle, of: party) { holdsMany($0) && !$0.isTrusted }
            ?? first(.arriving, of: party) { holdsMany($0) && !$0.isTrusted }
            ?? first(.silent, of: party) { _ in true }
            ?? first(.idle, of: party) { !$0.isTrusted }
            ?? first(.arriving, of: party) { !$0.isTrusted }
    }

    /// Whether its party holds many: a flood comes from few addresses, and an honest sender has few connections.
    private func holdsMany(_ entry: Entry) -> Bool {
        entry.party.map { shares[$0]?.connections ?? 0 > Self.fewConnections } ?? false
    }

    private func first(_ phase: Phase, of party: NetworkAddress?, where isMeant: (Entry) -> Bool) -> Int? {
        var slot = ends[phase.rawValue].first
        while let at = slot, let entry = entries[at] {
            if party == nil || entry.party == party, isMeant(entry) { return at }
            slot = entry.next
        }
        return nil
    }

    /// The connection whose requests are refused so that another may hold so many bytes: a deaf one, however little it
    /// holds, or one that would still hold more.
    private func whoGivesWay(to slot: Int, holding bytes: Int) -> Int? {
        if let one = first(.deaf, of: nil, where: { $0.bytes > 0 }) { return one == slot ? nil : one }
        return greediest(but: slot).flatMap { entries[$0]?.bytes ?? 0 > bytes ? $0 : nil }
    }

    /// The connection whose arriving request holds most.
    private func greediest(but self: Int) -> Int? {
        var greediest: (slot: Int, bytes: Int)?
        var slot = ends[Phase.arriving.rawValue].first
        while let at = slot, let entry = entries[at] {
            if at != self, entry.bytes > greediest?.bytes ?? 0 { greediest = (at, entry.bytes) }
            slot = entry.next
        }
        return greediest?.slot
    }

    /// It no longer counts.
    private mutating func leave(_ slot: Int) {
        guard let entry = entries[slot], entry.phase != .leaving else { return }
        count(-entry.bytes, of: slot)
        count -= 1
        if let party = entry.party {
            shares[party]?.connections -= 1
            if shares[party]?.connections == 0 { shares[party] = nil }
        }
        unlink(slot)
        entries[slot]?.phase = .leaving
        append(slot, to: .leaving)
    }

    private mutating func count(_ more: Int, of slot: Int) {
        guard more != 0 else { return }
        entries[slot]?.bytes += more
        bytes += more
        if let party = entries[slot]?.party { shares[party]?.bytes += more }
    }

    private mutating func append(_ slot: Int, to phase: Phase) {
        let last = ends[phase.rawValue].last
        entries[slot]?.previous = last
        entries[slot]?.next = nil
        if let last { entries[last]?.next = slot } else { ends[phase.rawValue].first = slot }
        ends[phase.rawValue].last = slot
    }

    private mutating func unlink(_ slot: Int) {
        guard let entry = entries[slot] else { return }
        if let previous = entry.previous {
            entries[previous]?.next = entry.next
        } else {
            ends[entry.phase.rawValue].first = entry.next
        }
        if let next = entry.next {
            entries[next]?.previous = entry.previous
        } else {
            ends[entry.phase.rawValue].last = entry.previous
        }
    }
}
