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
        /// A purchase, by its index. ``LineTimeline/firstNew(since:)`` decides which of its sources an act is about.
        case line(Int)
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

    /// Days that were added to what decided at an act.
    struct Extension {
        let act: Int
        let root: Root
        let rank: Int
        let days: Int64
        /// When they are, as it came about; nil where they never are, because of a refund or another owner.
        let term: Term?
        /// When the purchase ended, as it came about, so that they began or did not; nil where it never does.
        let lostAt: Timestamp?
    }

    /// What an act of staff is about. The catalog of the act's instant determines it for good.
    struct Decision {
        let root: Root
        /// The tier that the account had.
        let tier: String
        /// The act whose added days decided; nil where the source itself decided.
        let added: Int?
        /// Whether days can be added to it: it gave access, and has an end.
        let isExtensible: Bool
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
        /// The act whose added days decided then; nil where the source itself decided.
        let added: Int?
    }

    let catalog: Catalog
    let lines: [LineTimeline]
    let acts: [StaffAct]
    private(set) var terms: [Term] = []
    private(set) var extensions: [Extension] = []
    private(set) var blocks: [Block] = []
    private(set) var overrides: [Override] = []
    /// What the acts are about, by their indices.
    private(set) var decisions: [Int: Decision]
    /// From when on the catalog counts. What earlier acts are about was determined before.
    private let start: Timestamp
    /// For each act and each purchase, the first span of a source that was not there at the act.
    private let firstNew: [[Int]]

    /// - Parameters:
    ///   - decisions: what acts before the start are about.
    ///   - start: from when on the catalog counts.
    init(
        _ facts: AccountFacts, _ catalog: Catalog, knowing decisions: [Int: Decision] = [:],
        from start: Timestamp = .distantPast
    ) {
        self.catalog = catalog
        self.decisions = decisions
        self.start = start
        let lines = facts.lines.sorted { $0.key < $1.key }.map {
            LineTimeline($0, of: facts.account, erasedAt: facts.erasedAt, catalog)
        }
        self.lines = lines
        acts = facts.acts.sorted()
        firstNew = acts.map { act in
            switch act.kind {
            case .grant, .unrevoke: []
            case .extend, .revoke, .changeTier: lines.map { $0.firstNew(since: act.at) }
            }
        }
        // Every account has the lowest tier: a gift of it gives nothing.
        if let trial = facts.trial, let rank = catalog.rank(of: trial.tier), rank > 0, trial.startedAt < trial.endsAt {
            terms.append(Term(root: .trial, act: nil, rank: rank, start: trial.startedAt, end: trial.endsAt))
        }
        for place in acts.indices { take(place) }
    }

    private mutating func take(_ place: Int) {
        let act = acts[place]
        switch act.kind {
        case .grant(let tier, let days):
            guard let rank = catalog.rank(of: tier), rank > 0, days > 0 else { return }
            terms.append(
                Term(root: .grant(place), act: place, rank: rank, start: act.at, end: act.at.adding(days: days)))
        case .revoke:
            blocks.append(Block(act: place, at: act.at))
        case .unrevoke:
            for index in blocks.indices where blocks[index].liftedBy == nil { blocks[index].liftedBy = place }
        case .changeTier(let tier):
            guard let decision = decide(place), let rank = catalog.rank(of: tier) else { return }
            overrides.append(Override(act: place, root: decision.root, rank: rank, added: decision.added))
        case .extend(let days):
            guard let decision = decide(place), decision.isExtensible, days > 0,
                let rank = catalog.rank(of: decision.tier)
            else { return }
            let root = decision.root
            let term = extensibleEnd(of: root, from: act.at).map { end in
                // After earlier days that were added to this source, unless staff has ended those.
                let earlier = terms.filter { $0.isAdded && $0.root == root && !isBlocked($0, before: place) }
                let start = earlier.reduce(end) { max($0, $1.end) }
                return Term(root: root, act: place, rank: rank, start: start, end: start.adding(days: days))
            }
            if let term { terms.append(term) }
            var lostAt: Timestamp?
            if case .line(let line) = root { lostAt = lines[line].firstLost(from: act.at)?.startsAt }
            extensions.append(Extension(act: place, root: root, rank: rank, days: days, term: term, lostAt: lostAt))
        }
    }

    private mutating func decide(_ place: Int) -> Decision? {
        let act = acts[place]
        if act.at < start { return decisions[place] }
        decisions[place] = best(at: act.at, before: place).map { best in
            Decision(
                root: best.root, tier: catalog.tiers[best.rank].id, added: best.line == nil ? best.since.act : nil,
                isExtensible: !best.isWithheld && best.until != nil)
        }
        return decisions[place]
    }

    private func extensibleEnd(of root: Root, from instant: Timestamp) -> Timestamp? {
        switch root {
        case .line(let place): lines[place].extensibleEnd(from: instant)
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

    /// Whether a block ended days that were added before it, and that were still to come.
    func isBlocked(_ added: Extension, before limit: Int) -> Bool {
        if let term = added.term { return isBlocked(term, before: limit) }
        return block(before: limit) { added.act < $0.act } != nil
    }

    /// The block in force that ended the source to which a span of a purchase belongs.
    private func block(ofLine place: Int, _ span: Int, before limit: Int) -> Block? {
        if blocks.isEmpty { return nil }
        return block(before: limit) { span < firstNew[$0.act][place] }
    }

    /// Likewise, where the span is the last that gave something: one that had ended, and was not being retried, is left
    /// as it was.
    func block(ofEndedLine place: Int, _ span: Int, before limit: Int) -> Block? {
        if blocks.isEmpty { return nil }
        let line = lines[place]
        return block(before: limit) { block in
            guard span < firstNew[block.act][place], let then = line.place(at: block.at) else { return false }
            return span > then || line.spans[then].isThere
        }
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
        /// The purchase and its span; nil where it is not one.
        let line: (place: Int, span: Int)?
        /// The act to show.
        var act: Int?
        /// When it began, and by which act.
        let since: (at: Timestamp, act: Int?)
        /// Whether it is the renewal that was to follow the span, and that another plan replaced later.
        var isReplaced = false
        /// Whether staff changed its tier to the lowest: then it gives nothing, until it ends.
        var isWithheld = false

        /// Whether it takes precedence over the other.
        func outranks(_ other: Candidate) -> Bool {
            if isWithheld != other.isWithheld { return other.isWithheld }
            if rank != other.rank { return rank > other.rank }
            if until != other.until { return until.map { end in other.until.map { end > $0 } ?? false } ?? true }
            if source != other.source { return source.precedence > other.source.precedence }
            return (line?.place ?? 0, act ?? 0) < (other.line?.place ?? 0, other.act ?? 0)
        }
    }

    /// The deciding source at an instant, by the acts before an index; nil without access. It may be withheld.
    func best(at instant: Timestamp, before limit: Int) -> Candidate? {
        best(of: candidates(at: instant, before: limit), before: limit)
    }

    func best(of candidates: [Candidate], before limit: Int) -> Candidate? {
        changed(candidates, before: limit).reduce(nil) { best, next in
            guard let best else { return next }
            return next.outranks(best) ? next : best
        }
    }

    /// All sources that give access at an instant and are not blocked, before changes of tier.
    func candidates(at instant: Timestamp, before limit: Int) -> [Candidate] {
        var candidates = terms.compactMap { candidate($0, at: instant, before: limit) }
        for place in lines.indices {
            if let candidate = candidate(line: place, at: instant, before: limit) { candidates.append(candidate) }
        }
        return candidates
    }

    /// The sources by the last change of tier that is in force: what was there at its instant counts no more beside it.
    func changed(_ candidates: [Candidate], before limit: Int) -> [Candidate] {
        guard
            let override = overrides.last(where: { override in
                override.act < limit && candidates.contains { isObject($0, of: override) }
            })
        else { return candidates }
        return candidates.compactMap { candidate in
            if isObject(candidate, of: override) {
                var candidate = candidate
                candidate.rank = override.rank
                candidate.act = override.act
                candidate.isWithheld = override.rank == 0
                return candidate
            }
            return isLater(candidate, than: override.act) ? candidate : nil
        }
    }

    /// The sources that count. A change of tier keeps others back only until it ends; a change to the lowest tier takes its
    /// own source, and those that were there beside it, for good.
    func counting(_ candidates: [Candidate], before limit: Int) -> [Candidate] {
        if overrides.isEmpty { return candidates }
        let changed = changed(candidates, before: limit)
        return changed.contains(where: \.isWithheld) ? changed.filter { !$0.isWithheld } : candidates
    }

    /// Their purchases, with their products; see ``AccountHolding``.
    func purchases(of counting: [Candidate]) -> [(purchase: PurchaseKey, productID: String)] {
        counting.compactMap { candidate in
            candidate.line.flatMap { line in
                lines[line.place].spans[line.span].phase.productID.map { (lines[line.place].key, $0) }
            }
        }
    }

    /// Whether a change of tier is about the source, or about what days were added to.
    private func isObject(_ candidate: Candidate, of override: Override) -> Bool {
        guard candidate.root == override.root else { return false }
        guard case .line(let place) = candidate.root else { return true }
        if candidate.line != nil {
            return !isNew(candidate, since: override.act)
                && !(override.added.map { isNew(candidate, since: $0) } ?? false)
        }
        guard let added = candidate.since.act, added != override.added else { return true }
        let other = override.added ?? override.act
        let (first, second) = (min(added, other), max(added, other))
        return lines[place].place(at: acts[second].at).map { $0 < firstNew[first][place] } ?? false
    }

    /// Whether a source was not there yet at an act.
    private func isLater(_ candidate: Candidate, than act: Int) -> Bool {
        if candidate.line != nil { return isNew(candidate, since: act) }
        return candidate.since.act.map { $0 > act } ?? (candidate.since.at > acts[act].at)
    }

    /// Whether a purchase's source was not there at an act.
    private func isNew(_ candidate: Candidate, since act: Int) -> Bool {
        guard let line = candidate.line else { return false }
        if line.span >= firstNew[act][line.place] { return true }
        return candidate.isReplaced && lines[line.place].isReplacedRenewalNew(in: line.span, since: acts[act].at)
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
        guard let index = line.place(at: instant), let rank = line.spans[index].rank,
            block(ofLine: place, index, before: limit) == nil
        else { return nil }
        let span = line.spans[index]
        var until = span.phase.accessUntil
        if let end = until, end <= instant {
            until = line.waitsUntil(from: index)
        }
        return Candidate(
            root: .line(place), rank: rank, source: .apple, status: AccountStatus(span.phase.status), until: until,
            line: (place, index), act: nil, since: (span.startsAt, nil))
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
