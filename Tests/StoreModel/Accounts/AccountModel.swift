/// An account, judged at one instant from nothing but what was heard, recorded and done.
///
/// A second model beside the service's own, by another author, written from its documents. It is slow and obvious: each
/// question begins with everything.
package final class AccountModel {
    /// What can give access.
    enum Source: Sendable, Hashable {
        case line(String)
        case grant(Int64)
        /// Days that staff added to another source, by the act.
        case days(Int64)
        case trial

        var name: String {
            switch self {
            case .line: "apple"
            case .grant, .days: "grant"
            case .trial: "trial"
            }
        }

        /// Which one speaks where two give the same for the same time.
        var precedence: Int {
            switch self {
            case .line: 2
            case .grant, .days: 1
            case .trial: 0
            }
        }
    }

    /// What a source is at an instant.
    struct Standing {
        var source: Source
        var status: String
        var access: Bool
        /// What it gives, or gave.
        var tier: String
        /// Whether Apple tries to charge for what is sold.
        var isRetried = false
        /// When the running period ends; nil where it has no end.
        var periodEnds: Int64?
        /// With access, what follows without a gap: the end of each part, nil for one without an end, and its tier.
        var ahead: [(tier: String, until: Int64?)] = []

        /// When it ends as far as the same product goes on.
        var own: Int64?

        var until: Int64? { ahead.last?.until }
    }

    let life: AccountLife
    let lines: [String: LineModel]
    let things: [String: ThingModel]
    let owners: [String: OwnerModel]
    let acts: [LifeAct]
    /// The source that each extension or change of tier is about: the one that decided when it was done, or that the days
    /// which decided were added to.
    private(set) var targets: [Int64: Source] = [:]
    /// The act whose days decided when an extension or change of tier was done.
    private(set) var deciding: [Int64: Int64] = [:]
    /// The tier that it gave then.
    private(set) var tiers: [Int64: String] = [:]
    /// The instants at which anything may change, in epoch milliseconds, in order.
    package var borders: [Int64] { all }
    private var all: [Int64] = []
    /// Those by its own catalog.
    let own: [Int64]
    /// What it is by the catalogs that take the place of the life's first one, each from its instant on.
    private var later: [(from: Int64, model: AccountModel)] = []
    /// What was worked out already; nothing but time is saved by it.
    var known: [Source: [Int64: Standing?]] = [:]
    var knownOwners: [String: [Int64: String?]] = [:]
    var knownPeriods: [String: [Int64: [LinePeriod]]] = [:]
    private var knownEnds: [Int64: Int64?] = [:]

    /// Judges a life.
    ///
    /// The catalog is that of the instant. What an act was about was decided by the catalog of the act's instant.
    package convenience init(_ life: AccountLife) {
        var life = life
        if let erased = life.erased {
            // What staff did before, and the trial, were the account's that is no more.
            life.acts.removeAll { $0.at <= erased }
            if let trial = life.trial, trial.starts <= erased { life.trial = nil }
        }
        self.init(life, knowing: nil, until: .min)
        var last = self
        for change in life.laterCatalogs {
            var life = life
            life.catalog = change.catalog
            last = AccountModel(life, knowing: last, until: change.from)
            later.append((change.from, last))
        }
        // Each model looks for its ends at its own borders.
        all = Set(later.flatMap { [$0.from] + $0.model.own }).union(own).sorted()
    }

    /// Judges a life by one catalog.
    /// - Parameters:
    ///   - earlier: what acts before this catalog's first instant were about.
    ///   - start: that instant.
    private init(_ life: AccountLife, knowing earlier: AccountModel?, until start: Int64) {
        self.life = life
        var (lines, things, owners) = ([String: LineModel](), [String: ThingModel](), [String: OwnerModel]())
        for line in life.lines {
            let messages = life.messages.filter { $0.line == line }
            if let thing = ThingModel(messages) {
                things[line] = thing
            } else {
                lines[line] = LineModel(messages, leeway: life.leeway).remembering
            }
            owners[line] = OwnerModel(life.bindings[line] ?? [])
        }
        (self.lines, self.things, self.owners) = (lines, things, owners)
        acts = life.acts.sorted { ($0.at, $0.id) < ($1.at, $1.id) }
        own = Self.borders(of: life, lines, things)
        for (place, act) in acts.enumerated() {
            switch act.kind {
            case .extend, .changeTier:
                if let earlier, act.at < start {
                    targets[act.id] = earlier.targets[act.id]
                    deciding[act.id] = earlier.deciding[act.id]
                    tiers[act.id] = earlier.tiers[act.id]
                    continue
                }
                // What staff had changed to the lowest tier is there, and can be changed again.
                if let decision = decision(at: act.at, by: Array(acts[..<place])),
                    decision.standing.access || (decision.standing.status == "free" && act.isChange)
                {
                    targets[act.id] = root(of: decision.standing.source)
                    if case .days(let id) = decision.standing.source { deciding[act.id] = id }
                    tiers[act.id] = decision.standing.tier
                }
            default: break
            }
        }
    }

    // MARK: - Acts

    func blocks(at instant: Int64, by acts: [LifeAct]) -> [LifeAct] {
        var blocks: [LifeAct] = []
        for act in acts where act.at <= instant {
            if act.kind == .revoke { blocks.append(act) }
            if act.kind == .unrevoke { blocks = [] }
        }
        return blocks
    }

    /// The days of an extension, once they have begun: where the source that it is about first ends after the act, and after
    /// what was added to it before. What Apple takes back there is not extended, and what goes to another account neither.
    func days(_ id: Int64, at instant: Int64) -> (tier: String, from: Int64, until: Int64)? {
        guard let place = acts.firstIndex(where: { $0.id == id }), case .extend(let more) = acts[place].kind,
            let source = targets[id], let tier = tiers[id]
        else { return nil }
        let act = acts[place]
        guard act.at <= instant, let end = firstEnd(of: source, after: act, by: instant) else { return nil }
        if case .line = source {
            guard let ended = standing(of: source, at: end), ended.status != "revoked" else { return nil }
        }
        let blocks = blocks(at: act.at, by: Array(acts[..<place]))
        let before = acts[..<place].filter { earlier in
            targets[earlier.id] == source && !blocks.contains { (earlier.at, earlier.id) < ($0.at, $0.id) }
        }
        let from = max(end, before.compactMap { days($0.id, at: instant)?.until }.max() ?? end)
        return (tier, from, from + more * ModelTime.day)
    }

    /// Where the source of an extension first ended at or after it, by an instant.
    func firstEnd(of source: Source, after act: LifeAct, by instant: Int64) -> Int64? {
        let end: Int64?
        if let known = knownEnds[act.id] {
            end = known
        } else {
            end =
                !(standing(of: source, at: act.at)?.access ?? false)
                ? act.at
                : own.first { border in
                    act.at < border && !(standing(of: source, at: border)?.access ?? false)
                }
            knownEnds[act.id] = .some(end)
        }
        return end.flatMap { $0 <= instant ? $0 : nil }
    }

    // MARK: - What decides

    /// What decides at an instant by the acts given, and what else gives something.
    func decision(
        at instant: Int64, by acts: [LifeAct]
    ) -> (standing: Standing, expiresAt: Int64?, tierUntil: Int64?)? {
        let acts = acts.filter { $0.at <= instant }
        let blocks = blocks(at: instant, by: acts)
        let standings = sources.compactMap { source -> Standing? in
            guard !blocks.contains(where: { wasThere(source, when: $0, at: instant) }) else { return nil }
            return standing(of: source, at: instant)
        }
        var giving = standings.filter(\.access)
        // The latest change of tier whose source still gives something speaks for all that was there.
        let change = acts.last { act in
            act.isChange && giving.contains { isChanged($0.source, by: act, at: instant) }
        }
        if let change, case .changeTier(let tier) = change.kind {
            let objects = giving.filter { isChanged($0.source, by: change, at: instant) }
            giving.removeAll { wasThere($0.source, when: change, at: instant) }
            giving.removeAll { standing in objects.contains { $0.source == standing.source } }
            if life.catalog.rank(tier) == 0 {
                if giving.isEmpty, var withheld = objects.first {
                    (withheld.status, withheld.access) = ("free", false)
                    return (withheld, nil, nil)
                }
            } else {
                giving += objects.map { object in
                    var object = object
                    object.tier = tier
                    return object
                }
            }
        }
        if let best = giving.max(by: { isLess($0, $1) }) {
            let known = known(standings.filter(\.access), blocks, at: instant, by: acts)
            let ends = ends(known, at: instant, by: acts)
            return (best, ends.access, ends.tier)
        }
        return ended(blocks, at: instant, by: acts).map { ($0.standing, $0.at, nil) }
    }

    /// Whether an act changes what a source gives: the one that decided then, and the days that are added to it.
    func isChanged(
        _ source: Source, by act: LifeAct, at instant: Int64, goingOnTo moment: Int64? = nil
    ) -> Bool {
        guard root(of: source) == targets[act.id] else { return false }
        // Where days decided, the source is what they were added to.
        let reference = deciding[act.id].flatMap { id in acts.first { $0.id == id } } ?? act
        switch source {
        case .grant, .trial: return true
        case .line:
            return [act, reference].allSatisfy { wasThere(source, when: $0, at: instant, goingOnTo: moment) }
        case .days(let id):
            guard id != reference.id, let added = acts.first(where: { $0.id == id }) else { return true }
            let (first, second) =
                (added.at, added.id) < (reference.at, reference.id) ? (added, reference) : (reference, added)
            if case .line = root(of: source) { return wasThere(root(of: source), when: first, at: second.at) }
            return true
        }
    }

    /// Whether another source speaks before this one: the higher tier, then the longer, then what was paid for.
    func isLess(_ one: Standing, _ other: Standing) -> Bool {
        func order(_ standing: Standing) -> (Int, Int64, Int) {
            (
                standing.access ? life.catalog.rank(standing.tier) ?? -1 : -1, standing.own ?? standing.until ?? .max,
                standing.source.precedence
            )
        }
        return order(one) < order(other)
    }

    // MARK: - Answers

    /// What the account is at an instant, in epoch milliseconds.
    package func verdict(at instant: Int64) -> AccountVerdict {
        if let erased = life.erased, instant < erased {
            return AccountVerdict(
                status: "free", tier: life.catalog.tiers.first ?? "free", access: false, source: "none")
        }
        if let reign = later.last(where: { $0.from <= instant }) { return reign.model.verdict(at: instant) }
        let free = life.catalog.tiers.first ?? "free"
        guard let (standing, expiresAt, tierUntil) = decision(at: instant, by: acts) else {
            return AccountVerdict(status: "free", tier: free, access: false, source: "none")
        }
        return AccountVerdict(
            status: standing.status, tier: standing.access ? standing.tier : free, access: standing.access,
            source: standing.source.name, expiresAt: expiresAt, tierUntil: standing.access ? tierUntil : nil,
            periodEndsAt: standing.access ? standing.periodEnds : nil)
    }

    private static func borders(
        of life: AccountLife, _ lines: [String: LineModel], _ things: [String: ThingModel]
    ) -> [Int64] {
        var borders = Set(life.acts.map(\.at) + [life.erased].compactMap { $0 })
        for model in lines.values { borders.formUnion(model.borders) }
        for thing in things.values { borders.formUnion(thing.borders(life.catalog)) }
        for bindings in life.bindings.values { borders.formUnion(bindings.map(\.at)) }
        for act in life.acts {
            if case .grant(_, let days) = act.kind { borders.insert(act.at + days * ModelTime.day) }
        }
        if let trial = life.trial { borders.formUnion([trial.starts, trial.ends]) }
        // Days are added to any end, one act after the other.
        for act in life.acts {
            if case .extend(let days) = act.kind { borders.formUnion(borders.map { $0 + days * ModelTime.day }) }
        }
        return borders.sorted()
    }
}
