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
        /// Whether Apple tries to charge.
        var isRetried = false
        /// Whether it has ended, and its renewal is waited for.
        var isWaiting = false
        /// With access, what follows without a gap: the end of each part, nil for one without an end, and its tier.
        var ahead: [(tier: String, until: Int64?)] = []

        /// When it begins, where that is later.
        var from: Int64?
        /// When it ends as far as the same product goes on.
        var own: Int64?
        /// What staff added to it, that begins where it ends.
        var added: [(tier: String, until: Int64?)] = []

        var until: Int64? { ahead.last?.until }
    }

    private let life: AccountLife
    private let lines: [String: LineModel]
    private let things: [String: ThingModel]
    private let owners: [String: OwnerModel]
    private let acts: [LifeAct]
    /// The source that each extension or change of tier is about: the one that decided when it was done.
    private var targets: [Int64: Source] = [:]
    /// The tier that it gave then.
    private var tiers: [Int64: String] = [:]
    /// The instants at which anything may change, in epoch milliseconds, in order.
    package let borders: [Int64]
    /// What was worked out already; nothing but time is saved by it.
    private var known: [Source: [Int64: Standing?]] = [:]
    private var knownOwners: [String: [Int64: String?]] = [:]

    /// Judges a life.
    package init(_ life: AccountLife) {
        self.life = life
        var (lines, things, owners) = ([String: LineModel](), [String: ThingModel](), [String: OwnerModel]())
        for line in life.lines {
            let messages = life.messages.filter { $0.line == line }
            if let thing = ThingModel(messages) {
                things[line] = thing
            } else {
                lines[line] = LineModel(messages, leeway: life.leeway)
            }
            owners[line] = OwnerModel(life.bindings[line] ?? [])
        }
        (self.lines, self.things, self.owners) = (lines, things, owners)
        acts = life.acts.sorted { ($0.at, $0.id) < ($1.at, $1.id) }
        borders = Self.borders(of: life, lines, things)
        for (place, act) in acts.enumerated() {
            switch act.kind {
            case .extend, .changeTier:
                // What staff had changed to the lowest tier is there, and can be changed again.
                if let decision = decision(at: act.at, by: Array(acts[..<place])),
                    decision.standing.access || (decision.standing.status == "free" && act.isChange)
                {
                    targets[act.id] = decision.standing.source
                    tiers[act.id] = decision.standing.tier
                }
            default: break
            }
        }
    }

    // MARK: - Sources

    /// What a line is, whoever has it.
    private func standing(of line: String, at instant: Int64) -> Standing? {
        if let model = lines[line] {
            guard let verdict = model.verdict(at: instant), let tier = life.catalog.tier(of: verdict.period.product)
            else { return nil }
            let status =
                switch verdict.status {
                case .billingRetry: "expired"
                case .expired: verdict.period.isTrial ? "trial_expired" : "expired"
                default: verdict.status.rawValue
                }
            let ahead = verdict.ahead.prefix { life.catalog.tier(of: $0.product) != nil }
            return Standing(
                source: .line(line), status: status, access: verdict.status.access, tier: tier,
                isRetried: verdict.status == .billingRetry, isWaiting: verdict.isWaiting,
                ahead: ahead.map { (life.catalog.tier(of: $0.product) ?? tier, $0.until) },
                own: verdict.ahead.prefix { $0.product == verdict.ahead.first?.product }.last?.until)
        }
        guard let thing = things[line], thing.kind != .consumable, thing.purchased(at: instant) != nil,
            let tier = life.catalog.tier(of: thing.product)
        else { return nil }
        if thing.revoked(at: instant) != nil {
            return Standing(source: .line(line), status: "revoked", access: false, tier: tier)
        }
        let ends = thing.ends(life.catalog)
        if let ends, ends <= instant {
            return Standing(source: .line(line), status: "expired", access: false, tier: tier)
        }
        return Standing(source: .line(line), status: "active", access: true, tier: tier, ahead: [(tier, ends)])
    }

    private func owner(of line: String, at instant: Int64) -> String? {
        if let known = knownOwners[line]?[instant] { return known }
        let owner: String? =
            if let model = lines[line] {
                owners[line]?.owner(of: model, at: instant)
            } else {
                things[line].flatMap { owners[line]?.owner(of: $0, at: instant) }
            }
        knownOwners[line, default: [:]][instant] = .some(owner)
        return owner
    }

    /// What a source is for the account at an instant, whether or not staff blocked it; nil for what is none of its.
    private func standing(of source: Source, at instant: Int64) -> Standing? {
        if case .line(let line) = source, owner(of: line, at: instant) != life.account { return nil }
        return standingForAnyone(of: source, at: instant)
    }

    private func standingForAnyone(of source: Source, at instant: Int64) -> Standing? {
        if let known = known[source]?[instant] { return known }
        let standing = newStanding(of: source, at: instant)
        known[source, default: [:]][instant] = .some(standing)
        return standing
    }

    private func newStanding(of source: Source, at instant: Int64) -> Standing? {
        switch source {
        case .line(let line): return standing(of: line, at: instant)
        case .grant(let id):
            guard let act = acts.first(where: { $0.id == id }), case .grant(let tier, let days) = act.kind,
                act.at <= instant, let rank = life.catalog.rank(tier), rank > 0
            else { return nil }
            let ends = act.at + days * ModelTime.day
            return instant < ends
                ? Standing(source: source, status: "active", access: true, tier: tier, ahead: [(tier, ends)])
                : Standing(source: source, status: "expired", access: false, tier: tier)
        case .days(let id):
            guard let days = days(id, at: instant), days.from <= instant else { return nil }
            return instant < days.until
                ? Standing(
                    source: source, status: "active", access: true, tier: days.tier, ahead: [(days.tier, days.until)])
                : Standing(source: source, status: "expired", access: false, tier: days.tier)
        case .trial:
            guard let trial = life.trial, trial.starts <= instant, let rank = life.catalog.rank(trial.tier), rank > 0
            else { return nil }
            return instant < trial.ends
                ? Standing(
                    source: source, status: "trial", access: true, tier: trial.tier, ahead: [(trial.tier, trial.ends)])
                : Standing(source: source, status: "trial_expired", access: false, tier: trial.tier)
        }
    }

    private var sources: [Source] {
        var sources = life.lines.map { Source.line($0) }
        for act in acts {
            if case .grant = act.kind { sources.append(.grant(act.id)) }
            if case .extend = act.kind { sources.append(.days(act.id)) }
        }
        if life.trial != nil { sources.append(.trial) }
        return sources
    }

    /// Whether what a source is at an instant was there already when staff acted.
    ///
    /// On a line a new source begins with a purchase that the customer makes after the act, and all that follows belongs
    /// to it.
    private func wasThere(_ source: Source, when act: LifeAct, at instant: Int64) -> Bool {
        switch source {
        case .grant(let id), .days(let id):
            guard let grant = acts.first(where: { $0.id == id }) else { return false }
            return (grant.at, grant.id) < (act.at, act.id)
        case .trial: return (life.trial?.starts ?? .max) <= act.at
        case .line(let line):
            if let thing = things[line] { return (thing.purchased(at: instant) ?? .max) <= act.at }
            guard let model = lines[line] else { return false }
            let known = model.periods(at: instant)
            let begun = known.filter { $0.begins <= instant }
            let periods = begun.isEmpty ? known : begun
            return !periods.contains { isNew($0, after: act, among: periods, of: model) }
        }
    }

    /// Whether a period begins a source that was not there when staff acted.
    private func isNew(
        _ period: LinePeriod, after act: LifeAct, among periods: [LinePeriod], of model: LineModel
    ) -> Bool {
        guard period.begins > act.at else { return false }
        if period.reason == "PURCHASE" { return true }
        // Renewed, or only heard of: to the product that was there, or to the one that was to follow, it is the old one.
        // A line of which nothing older was heard begins with what was heard first.
        guard let before = periods.last(where: { $0.begins <= act.at }) else { return true }
        guard before.product != period.product, period.firstSigned > act.at else { return false }
        return model.nextProduct(at: act.at) != period.product
    }

    // MARK: - Acts

    private func blocks(at instant: Int64, by acts: [LifeAct]) -> [LifeAct] {
        var blocks: [LifeAct] = []
        for act in acts where act.at <= instant {
            if act.kind == .revoke { blocks.append(act) }
            if act.kind == .unrevoke { blocks = [] }
        }
        return blocks
    }

    /// The days of an extension, once they have begun: where the source that it is about first ends after the act, and after
    /// what was added to the same end before. What Apple takes back there
    /// is not extended, and what goes to another account neither.
    private func days(_ id: Int64, at instant: Int64) -> (tier: String, end: Int64, from: Int64, until: Int64)? {
        guard let act = acts.first(where: { $0.id == id }), case .extend(let more) = act.kind,
            let source = targets[id], let tier = tiers[id]
        else { return nil }
        guard let end = firstEnd(of: source, after: act, by: instant), let ended = standing(of: source, at: end),
            ended.status != "revoked"
        else { return nil }
        let before = acts.prefix { $0.id != id }.filter { targets[$0.id] == source }
            .compactMap { days($0.id, at: instant) }.filter { $0.end == end }.map(\.until)
        let from = max(end, before.max() ?? end)
        return (tier, end, from, from + more * ModelTime.day)
    }

    /// Where a source first ended after an act, by an instant.
    private func firstEnd(of source: Source, after act: LifeAct, by instant: Int64) -> Int64? {
        borders.first { border in
            act.at < border && border <= instant && (standing(of: source, at: border - 1)?.access ?? false)
                && !(standing(of: source, at: border)?.access ?? false)
        }
    }

    /// When a source that gives nothing at an instant last gave something, to the account or while it was nobody's; nil for never.
    private func end(of source: Source, at instant: Int64) -> Int64? {
        borders.last {
            $0 <= instant && !isOthers(source, at: $0 - 1) && standingForAnyone(of: source, at: $0 - 1)?.access ?? false
        }
    }

    /// Whether a source is a line of another account.
    private func isOthers(_ source: Source, at instant: Int64) -> Bool {
        guard case .line(let line) = source, let owner = owner(of: line, at: instant) else { return false }
        return owner != life.account
    }

    // MARK: - What decides

    /// What decides at an instant by the acts given, and what else gives something.
    private func decision(
        at instant: Int64, by acts: [LifeAct]
    ) -> (standing: Standing, accessUntil: Int64?, tierUntil: Int64?)? {
        let acts = acts.filter { $0.at <= instant }
        let blocks = blocks(at: instant, by: acts)
        let standings = sources.compactMap { source -> Standing? in
            guard !blocks.contains(where: { wasThere(source, when: $0, at: instant) }) else { return nil }
            return standing(of: source, at: instant).map { extended($0, at: instant, by: acts) }
        }
        // The latest change of tier whose source still gives something speaks for all that was there.
        let change = acts.last { act in
            guard case .changeTier = act.kind else { return false }
            return standings.contains { $0.access && isChanged($0.source, by: act, at: instant) }
        }
        var giving = standings.filter(\.access)
        // What was there as well, and counts again once the source that staff changed has ended.
        var (masked, maskedUntil) = ([Standing](), Int64?.none)
        if let change, case .changeTier(let tier) = change.kind {
            masked = giving.filter { wasThere($0.source, when: change, at: instant) }
            giving.removeAll { wasThere($0.source, when: change, at: instant) }
            let changes = masked.filter { isChanged($0.source, by: change, at: instant) }
            if var changed = changes.max(by: { $0.until ?? .max < $1.until ?? .max }) {
                changed.tier = tier
                changed.ahead = [(tier, changed.until)] + changed.added.map { (tier, $0.until) }
                changed.added = []
                masked.removeAll { $0.source == changed.source }
                maskedUntil = changed.until
                if life.catalog.rank(tier) == 0 {
                    guard !giving.isEmpty else {
                        changed.status = "free"
                        changed.access = false
                        return (changed, nil, nil)
                    }
                } else {
                    giving.append(changed)
                }
            }
        }
        if let best = giving.max(by: { isLess($0, $1) }) {
            // Days that are to begin where others end.
            let later = acts.compactMap { act -> Standing? in
                guard case .extend = act.kind, let days = days(act.id, at: instant), instant < days.from,
                    !blocks.contains(where: { wasThere(.days(act.id), when: $0, at: instant) })
                else { return nil }
                var standing = Standing(source: .days(act.id), status: "active", access: true, tier: days.tier)
                standing.ahead = [(days.tier, days.until)]
                standing.from = days.from
                return standing
            }
            let ends = ends(
                giving + later, maskedUntil == nil ? [] : masked, after: maskedUntil ?? instant, from: instant)
            return (best, ends.access, ends.tier)
        }
        return ended(standings, blocks, at: instant, by: acts).map { ($0, nil, nil) }
    }

    /// Whether an act changes what a source gives: the one that decided then, and the days that were added to it before.
    private func isChanged(_ source: Source, by act: LifeAct, at instant: Int64) -> Bool {
        guard wasThere(source, when: act, at: instant) else { return false }
        var source = source
        while source != targets[act.id] {
            guard case .days(let id) = source, let extended = targets[id],
                let added = acts.first(where: { $0.id == id }), wasThere(extended, when: added, at: act.at)
            else { return false }
            source = extended
        }
        return true
    }

    /// A source with the days that staff added to it and that have not begun.
    private func extended(_ standing: Standing, at instant: Int64, by acts: [LifeAct]) -> Standing {
        guard standing.access, var until = standing.until else { return standing }
        var longer = standing
        for act in acts where act.at <= instant && targets[act.id] == standing.source {
            guard case .extend(let days) = act.kind, let tier = tiers[act.id],
                firstEnd(of: standing.source, after: act, by: instant) == nil
            else { continue }
            until += days * ModelTime.day
            longer.added.append((tier, until))
            // Days may be added to those.
            let further = extended(
                Standing(source: .days(act.id), status: "active", access: true, tier: tier, ahead: [(tier, until)]),
                at: instant, by: acts)
            longer.added += further.added
            until = further.added.last?.until ?? until
        }
        return longer
    }

    /// Whether another source speaks before this one: the higher tier, then the longer, then what was paid for.
    private func isLess(_ one: Standing, _ other: Standing) -> Bool {
        func order(_ standing: Standing) -> (Int, Int64, Int) {
            (
                standing.access ? life.catalog.rank(standing.tier) ?? -1 : -1, standing.own ?? standing.until ?? .max,
                standing.source.precedence
            )
        }
        return order(one) < order(other)
    }

    /// When access ends, and when the tier becomes another one, if nothing else happens.
    private func ends(
        _ giving: [Standing], _ masked: [Standing], after unmasked: Int64, from instant: Int64
    ) -> (access: Int64?, tier: Int64?) {
        func rank(at moment: Int64) -> Int? {
            (moment < unmasked ? giving : giving + masked).compactMap { standing -> Int? in
                if let from = standing.from, moment < from { return nil }
                return (standing.ahead + standing.added).first { $0.until.map { moment < $0 } ?? true }.flatMap {
                    life.catalog.rank($0.tier)
                }
            }.max()
        }
        let now = rank(at: instant)
        var tier: Int64?
        for border in Set((giving + masked).flatMap { ($0.ahead + $0.added).compactMap(\.until) }).sorted()
        where border > instant {
            let next = rank(at: border)
            if next != now { tier = tier ?? border }
            if next == nil { return (border, tier) }
        }
        return (nil, tier)
    }

    /// What ended last, where nothing gives access; nil where nothing ever did.
    private func ended(
        _ standings: [Standing], _ blocks: [LifeAct], at instant: Int64, by acts: [LifeAct]
    ) -> Standing? {
        var ends: [(at: Int64, standing: Standing)] = []
        for standing in standings {
            guard let end = end(of: standing.source, at: instant) else { continue }
            ends.append((end, standing))
        }
        // What had ended by itself before a block has ended so.
        for source in sources where standing(of: source, at: instant) != nil {
            guard let block = blocks.first(where: { wasThere(source, when: $0, at: instant) }),
                let before = standing(of: source, at: block.at), !before.access,
                let end = end(of: source, at: block.at)
            else { continue }
            ends.append((end, before))
        }
        // A block ends what is there: what gives access, and what Apple tries to charge; and is about what is still there.
        for block in blocks {
            let earlier = acts.filter { ($0.at, $0.id) < (block.at, block.id) }
            let blocksThen = self.blocks(at: block.at, by: earlier)
            let there = sources.compactMap { source -> Standing? in
                guard wasThere(source, when: block, at: instant), standing(of: source, at: instant) != nil,
                    !blocksThen.contains(where: { wasThere(source, when: $0, at: block.at) }),
                    let then = standingForAnyone(of: source, at: block.at).map({
                        extended($0, at: block.at, by: earlier)
                    })
                else { return nil }
                return then.access || then.isRetried ? then : nil
            }
            guard var blocked = there.max(by: { isLess($0, $1) }) else { continue }
            (blocked.status, blocked.access) = ("revoked", false)
            ends.append((block.at, blocked))
        }
        return ends.max { $0.at < $1.at }?.standing
    }

    // MARK: - Answers

    /// What the account is at an instant, in epoch milliseconds.
    package func verdict(at instant: Int64) -> AccountVerdict {
        let free = life.catalog.tiers.first ?? "free"
        guard let (standing, accessUntil, tierUntil) = decision(at: instant, by: acts) else {
            return AccountVerdict(status: "free", tier: free, access: false, source: "none")
        }
        return AccountVerdict(
            status: standing.status, tier: standing.access ? standing.tier : free, access: standing.access,
            source: standing.source.name,
            isWaiting: standing.access && sources.contains { self.standing(of: $0, at: instant)?.isWaiting ?? false },
            accessUntil: accessUntil, tierUntil: tierUntil)
    }

    private static func borders(
        of life: AccountLife, _ lines: [String: LineModel], _ things: [String: ThingModel]
    ) -> [Int64] {
        var borders = Set(life.acts.map(\.at))
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
