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
        /// Whether Apple tries to charge, or has charged for what is not sold.
        var isRetried = false
        /// When the running period ends; nil where it has no end.
        var periodEnds: Int64?
        /// With access, what follows without a gap: the end of each part, nil for one without an end, and its tier.
        var ahead: [(tier: String, until: Int64?)] = []

        /// When it ends as far as the same product goes on.
        var own: Int64?

        var until: Int64? { ahead.last?.until }
    }

    /// A time for which a source is known to give a tier.
    private struct Known {
        var source: Source
        var tier: String
        var from: Int64
        /// Nil for one without an end.
        var until: Int64?

        func covers(_ moment: Int64) -> Bool { from <= moment && until.map { moment < $0 } ?? true }
    }

    private let life: AccountLife
    private let lines: [String: LineModel]
    private let things: [String: ThingModel]
    private let owners: [String: OwnerModel]
    private let acts: [LifeAct]
    /// The source that each extension or change of tier is about: the one that decided when it was done, or that the days
    /// which decided were added to.
    private var targets: [Int64: Source] = [:]
    /// The act whose days decided when an extension or change of tier was done.
    private var deciding: [Int64: Int64] = [:]
    /// The tier that it gave then.
    private var tiers: [Int64: String] = [:]
    /// The instants at which anything may change, in epoch milliseconds, in order.
    package var borders: [Int64] { all }
    private var all: [Int64] = []
    /// Those by its own catalog.
    private let own: [Int64]
    /// What it is by the catalogs that take the place of the life's first one, each from its instant on.
    private var later: [(from: Int64, model: AccountModel)] = []
    /// What was worked out already; nothing but time is saved by it.
    private var known: [Source: [Int64: Standing?]] = [:]
    private var knownOwners: [String: [Int64: String?]] = [:]
    private var knownPeriods: [String: [Int64: [LinePeriod]]] = [:]
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
                lines[line] = LineModel(messages, leeway: life.leeway)
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

    // MARK: - Sources

    /// What a line is, whoever has it.
    private func standing(of line: String, at instant: Int64) -> Standing? {
        if let model = lines[line] {
            guard let verdict = model.verdict(at: instant) else { return nil }
            guard let tier = life.catalog.tier(of: verdict.period.product) else {
                // What is not sold gives nothing; what was before it on the line has ended.
                let status =
                    verdict.status == .revoked ? "revoked" : verdict.period.isTrial ? "trial_expired" : "expired"
                return Standing(
                    source: .line(line), status: status, access: false, tier: life.catalog.tiers.first ?? "",
                    isRetried: verdict.status == .billingRetry || verdict.status.access)
            }
            let status =
                switch verdict.status {
                case .billingRetry: "expired"
                case .expired: verdict.period.isTrial ? "trial_expired" : "expired"
                default: verdict.status.rawValue
                }
            let ahead = verdict.ahead.prefix { life.catalog.tier(of: $0.product) != nil }
            return Standing(
                source: .line(line), status: status, access: verdict.status.access, tier: tier,
                isRetried: verdict.status == .billingRetry, periodEnds: verdict.period.stops,
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
        return Standing(
            source: .line(line), status: "active", access: true, tier: tier, periodEnds: ends, ahead: [(tier, ends)])
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
                ? Standing(
                    source: source, status: "active", access: true, tier: tier, periodEnds: ends, ahead: [(tier, ends)])
                : Standing(source: source, status: "expired", access: false, tier: tier)
        case .days(let id):
            guard let days = days(id, at: instant), days.from <= instant, let rank = life.catalog.rank(days.tier),
                rank > 0
            else { return nil }
            return instant < days.until
                ? Standing(
                    source: source, status: "active", access: true, tier: days.tier, periodEnds: days.until,
                    ahead: [(days.tier, days.until)])
                : Standing(source: source, status: "expired", access: false, tier: days.tier)
        case .trial:
            guard let trial = life.trial, trial.starts <= instant, let rank = life.catalog.rank(trial.tier), rank > 0
            else { return nil }
            return instant < trial.ends
                ? Standing(
                    source: source, status: "trial", access: true, tier: trial.tier, periodEnds: trial.ends,
                    ahead: [(trial.tier, trial.ends)])
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

    private func begun(_ line: String, _ model: LineModel, by instant: Int64) -> [LinePeriod] {
        if let known = knownPeriods[line]?[instant] { return known }
        let periods = model.begun(by: instant)
        knownPeriods[line, default: [:]][instant] = periods
        return periods
    }

    /// What days were added to; anything else is its own root.
    private func root(of source: Source) -> Source {
        if case .days(let id) = source { return targets[id] ?? source }
        return source
    }

    /// Whether what a source is at an instant was there already when staff acted.
    ///
    /// On a line a new source begins with a purchase that the customer makes after the act, and all that follows belongs
    /// to it.
    /// - Parameter moment: a later one, at which it goes on as far as is known at the instant.
    private func wasThere(
        _ source: Source, when act: LifeAct, at instant: Int64, goingOnTo moment: Int64? = nil
    ) -> Bool {
        switch source {
        case .grant(let id), .days(let id):
            guard let grant = acts.first(where: { $0.id == id }) else { return false }
            return (grant.at, grant.id) < (act.at, act.id)
        case .trial: return (life.trial?.starts ?? .max) <= act.at
        case .line(let line):
            if let thing = things[line] { return (thing.lastBought(by: instant) ?? .max) <= act.at }
            guard let model = lines[line] else { return false }
            var periods = begun(line, model, by: instant)
            if let moment, moment > instant { periods = model.periods(at: instant).filter { $0.begins <= moment } }
            return !periods.contains { isNew($0, after: act, among: periods, of: model) }
        }
    }

    /// Whether a period begins a source that was not there when staff acted.
    private func isNew(
        _ period: LinePeriod, after act: LifeAct, among periods: [LinePeriod], of model: LineModel
    ) -> Bool {
        guard period.begins > act.at else { return false }
        if period.reason == "PURCHASE" || isBoughtAgain(period, among: periods, of: model) { return true }
        // Renewed, or only heard of: to the product that was there, or to the one that was to follow, it is the old one.
        // A line of which nothing older was heard begins with what was heard first.
        guard let before = periods.last(where: { $0.begins <= act.at }) else { return true }
        guard before.product != period.product, period.firstSigned > act.at else { return false }
        return model.nextProduct(at: act.at) != period.product
    }

    /// Whether the customer seems to have bought a period of which Apple does not say why it is: more than a day lies between,
    /// and nothing was retried.
    private func isBoughtAgain(_ period: LinePeriod, among periods: [LinePeriod], of model: LineModel) -> Bool {
        let ends = periods.filter { $0.begins < period.begins }.map { min($0.ends, $0.revoked ?? .max) }
        guard period.reason == nil, let end = ends.max(), period.begins - ModelTime.day > end else { return false }
        let before = model.verdict(at: period.begins - 1)?.status
        return before != .billingRetry && before != .gracePeriod
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
    /// what was added to it before. What Apple takes back there is not extended, and what goes to another account neither.
    private func days(_ id: Int64, at instant: Int64) -> (tier: String, from: Int64, until: Int64)? {
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
    private func firstEnd(of source: Source, after act: LifeAct, by instant: Int64) -> Int64? {
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

    /// When a source that gives nothing at an instant last gave something, to the account or while it was nobody's; nil for
    /// never. What it gave to nobody before it was another account's was not for this one.
    private func end(of source: Source, at instant: Int64) -> Int64? {
        var wasOthers = false
        for border in own.reversed() where border <= instant {
            if isOthers(source, at: border - 1) {
                wasOthers = true
            } else if standingForAnyone(of: source, at: border - 1)?.access ?? false {
                if !wasOthers || standing(of: source, at: border - 1) != nil { return border }
            }
        }
        return nil
    }

    /// Whether a source is the account's, and has given it something, or would have.
    private func hasGiven(_ source: Source, at instant: Int64) -> Bool {
        guard let standing = standing(of: source, at: instant) else { return false }
        return standing.access || end(of: source, at: instant) != nil
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
        return ended(standings, blocks, at: instant, by: acts).map { ($0.standing, $0.at, nil) }
    }

    /// Whether an act changes what a source gives: the one that decided then, and the days that are added to it.
    private func isChanged(
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

    /// All that is known to give something from an instant on, if nothing else happens.
    private func known(
        _ giving: [Standing], _ blocks: [LifeAct], at instant: Int64, by acts: [LifeAct]
    ) -> [Known] {
        var known: [Known] = []
        var ends: [Source: Int64] = [:]
        for standing in giving {
            var from = instant
            for part in standing.ahead {
                known.append(Known(source: standing.source, tier: part.tier, from: from, until: part.until))
                from = part.until ?? from
            }
            ends[standing.source] = standing.until
        }
        for act in acts {
            guard case .extend(let more) = act.kind, let source = targets[act.id], let tier = tiers[act.id],
                !blocks.contains(where: { wasThere(.days(act.id), when: $0, at: instant) })
            else { continue }
            let isOver = firstEnd(of: source, after: act, by: instant) != nil
            if let days = days(act.id, at: instant) {
                if instant < days.from {
                    known.append(Known(source: .days(act.id), tier: tier, from: days.from, until: days.until))
                }
                ends[source] = ends[source].map { max($0, days.until) }
            } else if !isOver, let end = ends[source] {
                let until = end + more * ModelTime.day
                known.append(Known(source: .days(act.id), tier: tier, from: end, until: until))
                ends[source] = until
            }
        }
        return known
    }

    /// The rank of the tier that the account has at a moment by what is known; nil without access.
    private func rank(_ known: [Known], at moment: Int64, knowing instant: Int64, by acts: [LifeAct]) -> Int? {
        let covering = known.filter { $0.covers(moment) }
        let change = acts.last { act in
            act.isChange && covering.contains { isChanged($0.source, by: act, at: instant, goingOnTo: $0.from) }
        }
        guard let change, case .changeTier(let tier) = change.kind else {
            return covering.compactMap { life.catalog.rank($0.tier) }.max()
        }
        return covering.compactMap { known -> Int? in
            if isChanged(known.source, by: change, at: instant, goingOnTo: known.from) {
                return life.catalog.rank(tier).flatMap { $0 > 0 ? $0 : nil }
            }
            if wasThere(known.source, when: change, at: instant, goingOnTo: known.from) { return nil }
            return life.catalog.rank(known.tier)
        }.max()
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
    private func ends(_ known: [Known], at instant: Int64, by acts: [LifeAct]) -> (access: Int64?, tier: Int64?) {
        let now = rank(known, at: instant, knowing: instant, by: acts)
        var tier: Int64?
        for border in Set(known.flatMap { [$0.from] + [$0.until].compactMap { $0 } }).sorted() where border > instant {
            let next = rank(known, at: border, knowing: instant, by: acts)
            if next != now { tier = tier ?? border }
            if next == nil { return (border, tier) }
        }
        return (nil, tier)
    }

    /// What ended last, where nothing gives access; nil where nothing ever did.
    private func ended(
        _ standings: [Standing], _ blocks: [LifeAct], at instant: Int64, by acts: [LifeAct]
    ) -> (at: Int64, standing: Standing)? {
        var ends: [(at: Int64, standing: Standing)] = []
        for standing in standings {
            guard let end = end(of: standing.source, at: instant) else { continue }
            ends.append((end, standing))
        }
        // What had ended by itself before a block has ended so.
        for source in sources where standing(of: source, at: instant) != nil {
            guard let block = blocks.first(where: { wasThere(source, when: $0, at: instant) }),
                !isOthers(source, at: block.at), let before = standingForAnyone(of: source, at: block.at),
                !before.access,
                let end = end(of: source, at: block.at)
            else { continue }
            ends.append((end, before))
        }
        // A block ends what is there: what gives access, and what Apple tries to charge; and is about what is still there.
        for block in blocks {
            let earlier = acts.filter { ($0.at, $0.id) < (block.at, block.id) }
            let blocksThen = self.blocks(at: block.at, by: earlier)
            let there = sources.compactMap { source -> Standing? in
                guard wasThere(source, when: block, at: instant), hasGiven(source, at: instant),
                    !blocksThen.contains(where: { wasThere(source, when: $0, at: block.at) }),
                    let then = standingForAnyone(of: source, at: block.at)
                else { return nil }
                return then.access || then.isRetried ? then : nil
            }
            guard var blocked = there.max(by: { isLess($0, $1) }) else { continue }
            (blocked.status, blocked.access) = ("revoked", false)
            ends.append((block.at, blocked))
        }
        return ends.max {
            ($0.at, $0.standing.source.precedence) < ($1.at, $1.standing.source.precedence)
        }
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
