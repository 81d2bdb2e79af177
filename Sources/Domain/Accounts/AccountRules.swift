import AppStorePayloads
import Base
import Subscriptions

/// The rules of an account's status, over facts that are sorted once and asked at any instant. ``AccountState``
/// documents them.
///
/// Acts are numbered in the order in which they take effect. Each is evaluated on the account as the acts
/// before left it.
struct AccountRules {
    /// The object of an act: something that gives access by itself.
    enum Root: Hashable {
        /// A purchase, by its index, in the stretch that began then.
        case line(Int, stretch: Timestamp)
        /// A grant, by its index among the acts.
        case grant(Int)
        case trial
    }

    /// Something that gives a tier for some time, with an end from the beginning.
    struct Term {
        let root: Root
        /// The index of the act that gave it; nil for the trial.
        let act: Int?
        let rank: Int
        let start: Timestamp
        let end: Timestamp
    }

    struct Block {
        let act: Int
        let at: Timestamp
        /// The index of the act that lifts it.
        var liftedBy: Int?
    }

    struct Override {
        let act: Int
        let root: Root
        let rank: Int
    }

    let catalog: Catalog
    let lines: [LineTimeline]
    let acts: [StaffAct]
    private(set) var terms: [Term] = []
    private(set) var blocks: [Block] = []
    private(set) var overrides: [Override] = []

    init(_ facts: AccountFacts, _ catalog: Catalog) {
        self.catalog = catalog
        lines = facts.lines.sorted { $0.key < $1.key }.map { LineTimeline($0, of: facts.account, catalog) }
        acts = facts.acts.sorted()
        if let trial = facts.trial, let rank = catalog.rank(of: trial.tier), trial.startedAt < trial.endsAt {
            terms.append(Term(root: .trial, act: nil, rank: rank, start: trial.startedAt, end: trial.endsAt))
        }
        for place in acts.indices { take(place) }
    }

    private mutating func take(_ place: Int) {
        let act = acts[place]
        switch act.kind {
        case .grant(let tier, let days):
            guard let rank = catalog.rank(of: tier), days > 0 else { return }
            terms.append(
                Term(root: .grant(place), act: place, rank: rank, start: act.at, end: act.at.adding(days: days)))
        case .revoke:
            blocks.append(Block(act: place, at: act.at))
        case .unrevoke:
            for index in blocks.indices where blocks[index].liftedBy == nil { blocks[index].liftedBy = place }
        case .changeTier(let tier):
            guard let rank = catalog.rank(of: tier), let root = best(at: act.at, before: place)?.root else { return }
            overrides.append(Override(act: place, root: root, rank: rank))
        case .extend(let days):
            guard days > 0, let best = best(at: act.at, before: place),
                let end = extensibleEnd(of: best.root, from: act.at)
            else { return }
            // After earlier days that were added to this source, unless staff has ended those.
            let earlier = terms.filter {
                $0.isAdded && $0.root.isOfSameSource(as: best.root) && !isBlocked($0, before: place)
            }
            let start = earlier.reduce(end) { max($0, $1.end) }
            terms.append(
                Term(root: best.root, act: place, rank: best.rank, start: start, end: start.adding(days: days)))
        }
    }

    private func extensibleEnd(of root: Root, from instant: Timestamp) -> Timestamp? {
        switch root {
        case .line(let place, _): lines[place].extensibleEnd(from: instant)
        case .grant, .trial: terms.first { $0.root == root && !$0.isAdded }.map { max($0.end, instant) }
        }
    }

    // MARK: Blocks

    /// The first block in force, by the acts before an index, that meets a condition.
    private func block(before limit: Int, where condition: (Block) -> Bool) -> Block? {
        blocks.first { $0.act < limit && $0.liftedBy.map { $0 >= limit } ?? true && condition($0) }
    }

    /// The block in force that ended a term; nil where there is none.
    func block(of term: Term, before limit: Int) -> Block? {
        block(before: limit) { $0.ends(term) }
    }

    private func isBlocked(_ term: Term, before limit: Int) -> Bool { block(of: term, before: limit) != nil }

    /// The block that ended a stretch of a purchase.
    func block(ofStretch stretch: Timestamp, of line: LineTimeline, before limit: Int) -> Block? {
        guard !blocks.isEmpty else { return nil }
        let end = line.end(ofStretch: stretch) ?? .distantFuture
        return block(before: limit) { stretch <= $0.at && $0.at < end }
    }

    // MARK: What gives access

    /// A source that gives access at an instant.
    struct Candidate {
        let root: Root
        var rank: Int
        let source: AccountSource
        let status: AccountStatus
        /// Nil where it has no end.
        let until: Timestamp?
        /// The index of its purchase; nil where it is not one.
        let line: Int?
        /// The act to show.
        var act: Int?
        /// When it began, and by which act.
        let since: (at: Timestamp, act: Int?)

        /// Whether it takes precedence over the other.
        func outranks(_ other: Candidate) -> Bool {
            if rank != other.rank { return rank > other.rank }
            if until != other.until { return until.map { end in other.until.map { end > $0 } ?? false } ?? true }
            if source != other.source { return source.precedence > other.source.precedence }
            return (line ?? 0, act ?? 0) < (other.line ?? 0, other.act ?? 0)
        }
    }

    /// The deciding source at an instant, by the acts before an index; nil without access.
    func best(at instant: Timestamp, before limit: Int) -> Candidate? {
        var candidates = terms.compactMap { candidate($0, at: instant, before: limit) }
        for place in lines.indices {
            if let candidate = candidate(line: place, at: instant, before: limit) { candidates.append(candidate) }
        }
        if let override = overrides.last(where: { override in
            override.act < limit && candidates.contains { $0.root == override.root }
        }) {
            candidates = candidates.compactMap { candidate in
                var candidate = candidate
                if candidate.root == override.root {
                    candidate.rank = override.rank
                    candidate.act = override.act
                    return candidate
                }
                return candidate.isLater(than: override.act, at: acts[override.act].at) ? candidate : nil
            }
        }
        return candidates.reduce(nil) { best, next in
            guard let best else { return next }
            return next.outranks(best) ? next : best
        }
    }

    private func candidate(_ term: Term, at instant: Timestamp, before limit: Int) -> Candidate? {
        guard term.start <= instant, instant < term.end, term.act.map({ $0 < limit }) ?? true,
            !isBlocked(term, before: limit)
        else { return nil }
        return Candidate(
            root: term.root, rank: term.rank, source: term.source, status: term.act == nil ? .trial : .active,
            until: term.end, line: nil, act: term.act, since: (term.start, term.act))
    }

    private func candidate(line place: Int, at instant: Timestamp, before limit: Int) -> Candidate? {
        let line = lines[place]
        guard let span = line.span(at: instant), let rank = span.rank, let stretch = span.stretch,
            block(ofStretch: stretch, of: line, before: limit) == nil
        else { return nil }
        return Candidate(
            root: .line(place, stretch: stretch), rank: rank, source: .apple, status: AccountStatus(span.phase.status),
            until: span.phase.accessUntil, line: place, act: nil, since: (stretch, nil))
    }
}

extension AccountRules.Term {
    /// Whether it consists of days that were added to something else.
    var isAdded: Bool {
        switch root {
        case .grant(let place): act != place
        case .trial: act != nil
        case .line: true
        }
    }

    var source: AccountSource { act == nil ? .trial : .grant }
}

extension AccountRules.Block {
    /// Whether the term was in force: given before, and not over.
    fileprivate func ends(_ term: AccountRules.Term) -> Bool {
        at < term.end && (term.act.map { $0 < act } ?? (term.start <= at))
    }
}

extension AccountRules.Root {
    fileprivate func isOfSameSource(as other: Self) -> Bool {
        if case .line(let place, _) = self, case .line(let others, _) = other { return place == others }
        return self == other
    }
}

extension AccountRules.Candidate {
    /// Whether it began after an act.
    fileprivate func isLater(than act: Int, at instant: Timestamp) -> Bool {
        since.act.map { $0 > act } ?? (since.at > instant)
    }
}

extension AccountStatus {
    /// The account's status by a purchase that gives access.
    fileprivate init(_ status: SubscriptionStatus) {
        self =
            switch status {
            case .active: .active
            case .trial: .trial
            case .cancelled: .cancelled
            case .gracePeriod: .gracePeriod
            case .billingRetry, .expired: .expired
            case .revoked: .revoked
            }
    }
}
