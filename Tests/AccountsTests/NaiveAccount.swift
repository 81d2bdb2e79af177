import Accounts
import AppStorePayloads
import Base
import Subscriptions

/// An account's status worked out for one instant, straight from the rules as they are written down and without phases: a second
/// model, by other means than `AccountState`.
struct NaiveAccount {
    let facts: AccountFacts
    let catalog: Catalog
    private let acts: [StaffAct]

    init(_ facts: AccountFacts, _ catalog: Catalog) {
        self.facts = facts
        self.catalog = catalog
        acts = facts.acts.sorted { $0.at == $1.at ? $0.id < $1.id : $0.at < $1.at }
    }

    /// What gives access: a purchase by its number, a grant or added days by the act, or the trial.
    struct Giver {
        var name: String
        /// What it goes on after: added days belong to what they were added to.
        var root: String
        var tier: String
        var source: AccountSource
        var status: AccountStatus
        var until: Timestamp?
        var begun: Timestamp
        var act: Int64?
        var order: String
        var phase: LinePhase?
        var purchase: PurchaseKey?
        var line: AccountLine?
        /// When days were added.
        var added: StaffAct?
    }

    /// What the account is at an instant.
    func value(at instant: Timestamp) -> AccountPhase {
        let known = acts.filter { $0.at <= instant }
        if let giver = speaks(at: instant, knowing: known) {
            if giver.tier == catalog.free.id, isWithheld(giver, known) {
                return AccountPhase(
                    startsAt: instant, status: .free, tier: giver.tier, source: giver.source,
                    productID: giver.phase?.productID, purchase: giver.purchase, act: giver.act)
            }
            let frozen = NaiveAccount(frozen(at: instant), catalog)
            let renewing = renewing(at: instant, known).compactMap(\.phase).filter(\.willRenew)
            return AccountPhase(
                startsAt: instant, status: giver.status, tier: giver.tier, source: giver.source,
                productID: giver.phase?.productID, purchase: giver.purchase, act: giver.act,
                expiresAt: frozen.end(from: instant) { $0 == nil }, willRenew: !renewing.isEmpty,
                inTrial: giver.phase?.inTrial ?? (giver.source == .trial),
                ends: AccountPhase.Ends(
                    source: giver.until, tier: frozen.end(from: instant) { $0 != giver.tier },
                    period: giver.phase.map { $0.periodEndsAt } ?? giver.until),
                goesOn: renewing.contains { $0.status != .gracePeriod })
        }
        return ended(at: instant, knowing: known)
            ?? AccountPhase(startsAt: instant, status: .free, tier: catalog.free.id, source: .none)
    }

    // MARK: Purchases

    private func owner(_ line: AccountLine, _ phase: LinePhase, _ instant: Timestamp) -> UniqueIdentifier? {
        let ends = line.stretchEnds.filter { $0.at <= instant }.sorted { $0.at > $1.at }
        let all = line.ownership.bindings.filter { $0.at <= instant }
        let erased = Set(all.filter { $0.kind == .erasure }.map(\.account))
        let standing = all.suffix(from: all.lastIndex { $0.kind == .erasure }.map { $0 + 1 } ?? 0)
        func named(_ account: UniqueIdentifier?) -> UniqueIdentifier? {
            account.flatMap { erased.contains($0) ? nil : $0 }
        }
        /// By what was recorded from one instant to another.
        func owner(_ signed: UniqueIdentifier?, _ from: Timestamp, _ until: Timestamp) -> UniqueIdentifier? {
            let own = standing.filter { from <= $0.at && $0.at < until }
            let transfers = own.filter { $0.kind == .transfer }
            return own.last { $0.kind == .staff }?.account ?? named(signed) ?? transfers.last?.account
                ?? own.first { $0.kind == .proof }?.account
        }
        var until = Timestamp.distantFuture
        var signed = phase.signedAccount
        for end in ends {
            if let owner = owner(signed, end.at, until) { return owner }
            (until, signed) = (end.at, end.account)
        }
        return owner(signed, .distantPast, until) ?? named(phase.upcomingAccount)
    }

    /// What is known of the account at an instant, as if nothing else came.
    private func frozen(at instant: Timestamp) -> AccountFacts {
        var frozen = facts
        frozen.acts.removeAll { $0.at > instant }
        if let trial = facts.trial, trial.startedAt > instant { frozen.trial = nil }
        for index in frozen.lines.indices {
            let line = frozen.lines[index]
            frozen.lines[index].ownership = PurchaseOwnership(line.ownership.bindings.filter { $0.at <= instant })
            frozen.lines[index].stretchEnds.removeAll { $0.at > instant }
            guard case .subscription(let all) = line.content else {
                if case .oneTime(var bought) = line.content {
                    if bought.revokedAt.map({ $0 > instant }) ?? false { bought.revokedAt = nil }
                    frozen.lines[index].content =
                        bought.purchasedAt > instant ? .subscription([]) : .oneTime(bought)
                }
                continue
            }
            var phases = all.filter { $0.startsAt <= instant }
            guard let last = phases.last else {
                frozen.lines[index].content = .subscription([])
                continue
            }
            let next = all.first { $0.startsAt > instant }?.startsAt
            if last.status.access, let end = last.accessUntil.flatMap({ $0 > instant ? $0 : nextBorder(line, instant) })
            {
                var over = last
                over.status = .expired
                // What Apple has charged for begins when it ends.
                if let ahead = all.last(where: { $0.startsAt <= end }), ahead.startsAt == end, let next, next <= end,
                    tier(line, instant) != nil,
                    block(of: line, at: instant, acts.filter { $0.at <= instant }) == nil,
                    ahead.status.access,
                    ahead.chargedAt.map({ $0 <= instant }) ?? false
                {
                    var following = ahead
                    following.signedAccount = last.signedAccount
                    following.upcomingAccount = last.upcomingAccount
                    phases.append(following)
                    over.startsAt = ahead.accessUntil ?? end
                    phases.append(over)
                } else {
                    over.startsAt = end
                    phases.append(over)
                }
            }
            frozen.lines[index].content = .subscription(phases)
        }
        return frozen
    }

    /// Where a purchase is looked at anew after an instant.
    private func nextBorder(_ line: AccountLine, _ instant: Timestamp) -> Timestamp? {
        instants(line).filter { $0 > instant }.min()
    }

    /// The first instant after one at which the tier that access gives, or none, meets a condition; nil for never.
    private func end(from instant: Timestamp, _ condition: (String?) -> Bool) -> Timestamp? {
        var borders = facts.lines.flatMap { instants($0) } + acts.map(\.at)
        for term in terms(acts) { borders += [term.giver.begun, term.end] }
        return Set(borders).sorted().first { border in
            guard border > instant else { return false }
            let giver = speaks(at: border, knowing: acts)
            return condition(giver.flatMap { isWithheld($0, acts) ? nil : $0.tier })
        }
    }

    /// Whether staff changed it to the lowest tier.
    private func isWithheld(_ giver: Giver, _ known: [StaffAct]) -> Bool {
        guard giver.tier == catalog.free.id, let id = giver.act, let act = known.first(where: { $0.id == id }) else {
            return false
        }
        return act.kind == .changeTier(to: giver.tier)
    }

    /// What gives access, or will once what stands before it has ended.
    private func renewing(at instant: Timestamp, _ known: [StaffAct]) -> [Giver] {
        let (all, changed) = (givers(at: instant, known), changed(givers(at: instant, known), known))
        return changed.contains { isWithheld($0, known) } ? changed.filter { !isWithheld($0, known) } : all
    }

    private func phase(_ line: AccountLine, _ instant: Timestamp) -> LinePhase? {
        switch line.content {
        case .subscription(let phases): return phases.last { $0.startsAt <= instant }
        case .oneTime(let bought):
            guard bought.kind != .consumable, bought.purchasedAt <= instant else { return nil }
            var end = bought.kind == .nonRenewing ? bought.expiresAt : nil
            if bought.kind == .nonRenewing, end == nil, let id = bought.productID,
                let product = catalog.product(id, of: line.key.bundleID), product.period != .lifetime
            {
                guard let days = product.period == .term ? product.lasts : product.period.days else { return nil }
                end = bought.purchasedAt.adding(days: Int64(days))
            }
            var status = SubscriptionStatus.active
            if let end, end <= instant { status = .expired }
            if let revokedAt = bought.revokedAt, revokedAt <= instant { status = .revoked }
            return LinePhase(
                startsAt: bought.purchasedAt, status: status, productID: bought.productID, accessUntil: end,
                signedAccount: bought.signedAccount)
        }
    }

    private func isThere(_ line: AccountLine, _ instant: Timestamp) -> Bool {
        guard let phase = phase(line, instant), owner(line, phase, instant) == facts.account else { return false }
        return phase.status.access || phase.status == .billingRetry
    }

    private func tier(_ line: AccountLine, _ instant: Timestamp) -> String? {
        guard isThere(line, instant), let phase = phase(line, instant), phase.status.access, let id = phase.productID
        else { return nil }
        return catalog.product(id, of: line.key.bundleID).flatMap { catalog.tier($0.tier)?.id }
    }

    /// What it gives whoever owns it.
    private func worth(_ line: AccountLine, _ phase: LinePhase) -> String? {
        guard phase.status.access, let id = phase.productID else { return nil }
        return catalog.product(id, of: line.key.bundleID).flatMap { catalog.tier($0.tier)?.id }
    }

    /// All instants at which anything about a purchase may change, in order.
    private func instants(_ line: AccountLine) -> [Timestamp] {
        var instants = line.ownership.bindings.map(\.at) + line.stretchEnds.map(\.at)
        switch line.content {
        case .subscription(let phases): instants += phases.map(\.startsAt)
        case .oneTime(let bought):
            instants += [bought.purchasedAt, bought.expiresAt, bought.revokedAt].compactMap(\.self)
            if let end = phase(line, bought.purchasedAt)?.accessUntil { instants.append(end) }
        }
        return instants.sorted()
    }

    /// Whether what a purchase is at an instant follows from something that the customer chose after another.
    private func isNew(_ line: AccountLine, at instant: Timestamp, since act: Timestamp) -> Bool {
        guard let there = phase(line, act) else { return true }
        guard case .subscription(let phases) = line.content else { return false }
        var before = there.productID
        for phase in phases where phase.startsAt > act && phase.startsAt <= instant {
            if let boughtAt = phase.boughtAt, boughtAt > act { return true }
            let isChange = phase.productID != nil && phase.productID != before
            before = phase.productID
            if isChange, phase.productID != there.productID, phase.productID != there.namedProductID,
                phase.chargedAt ?? phase.startsAt > act
            {
                return true
            }
        }
        return false
    }

    private func next(_ line: AccountLine, after instant: Timestamp, where condition: (Timestamp) -> Bool) -> Timestamp?
    {
        instants(line).first { $0 > instant && condition($0) }
    }

    // MARK: Acts

    /// The blocks that stand, by these acts.
    private func blocks(_ known: [StaffAct]) -> [StaffAct] {
        var blocks: [StaffAct] = []
        for act in known {
            if act.kind == .revoke { blocks.append(act) }
            if act.kind == .unrevoke { blocks = [] }
        }
        return blocks
    }

    private func block(of line: AccountLine, at instant: Timestamp, _ known: [StaffAct]) -> StaffAct? {
        blocks(known).first { !isNew(line, at: instant, since: $0.at) }
    }

    private struct Term {
        var giver: Giver
        var end: Timestamp
        var act: StaffAct?
    }

    private func block(of term: Term, _ known: [StaffAct]) -> StaffAct? {
        blocks(known).first { block in
            block.at < term.end && (term.act.map { $0 < block } ?? (term.giver.begun <= block.at))
        }
    }

    /// Grants, added days and the trial, by these acts.
    private func terms(_ known: [StaffAct]) -> [Term] {
        var terms: [Term] = []
        if let trial = facts.trial, catalog.rank(of: trial.tier) ?? 0 > 0 {
            terms.append(
                Term(
                    giver: Giver(
                        name: "trial", root: "trial", tier: trial.tier, source: .trial, status: .trial,
                        until: trial.endsAt,
                        begun: trial.startedAt, order: ""), end: trial.endsAt))
        }
        for (place, act) in known.enumerated() {
            let before = Array(known[..<place])
            var giver = Giver(
                name: "act\(act.id)", root: "act\(act.id)", tier: "", source: .grant, status: .active, begun: act.at,
                act: act.id, order: format(place))
            switch act.kind {
            case .grant(let tier, let days) where catalog.rank(of: tier) ?? 0 > 0:
                giver.tier = tier
                giver.until = act.at.adding(days: days)
            case .extend(let days):
                guard let extended = speaks(at: act.at, knowing: before), !isWithheld(extended, before),
                    extended.until != nil
                else { continue }
                giver.added = act
                var start: Timestamp?
                if let line = facts.lines.first(where: { extended.root == "line\(name($0))" }) {
                    start =
                        tier(line, act.at) == nil ? act.at : next(line, after: act.at) { tier(line, $0) == nil }
                    guard let lost = start, let phase = phase(line, lost), phase.status != .revoked,
                        owner(line, phase, lost) == facts.account
                    else { continue }
                } else {
                    start = terms.first { $0.giver.name == extended.root }.map { max($0.end, act.at) }
                }
                guard var start else { continue }
                for term in terms
                where term.giver.name != term.giver.root && term.giver.root == extended.root
                    && block(of: term, before) == nil
                {
                    start = max(start, term.end)
                }
                giver.root = extended.root
                giver.tier = extended.tier
                giver.begun = start
                giver.until = start.adding(days: days)
            default: continue
            }
            terms.append(Term(giver: giver, end: giver.until ?? .distantFuture, act: act))
        }
        return terms
    }

    private func format(_ place: Int) -> String { place < 10 ? "0\(place)" : "\(place)" }
    private func name(_ line: AccountLine) -> String { line.key.originalTransactionID }

    // MARK: The answer

    private func givers(at instant: Timestamp, _ known: [StaffAct]) -> [Giver] {
        var givers = terms(known).filter {
            $0.giver.begun <= instant && instant < $0.end && block(of: $0, known) == nil
        }.map(\.giver)
        for line in facts.lines {
            guard let tier = tier(line, instant), let phase = phase(line, instant),
                block(of: line, at: instant, known) == nil, catalog.rank(of: tier) != nil
            else { continue }
            let status: AccountStatus =
                switch phase.status {
                case .trial: .trial
                case .cancelled: .cancelled
                case .gracePeriod: .gracePeriod
                default: .active
                }
            // Where it is past, a renewal is waited for.
            let until = phase.accessUntil.flatMap { $0 > instant ? $0 : nextBorder(line, instant) }
            let root = "line\(name(line))"
            givers.append(
                Giver(
                    name: root, root: root, tier: tier, source: .apple, status: status, until: until,
                    begun: phase.startsAt, order: name(line), phase: phase, purchase: line.key, line: line))
            givers[givers.count - 1].begun = instant
        }
        return givers
    }

    private func speaks(at instant: Timestamp, knowing known: [StaffAct]) -> Giver? {
        var givers = changed(givers(at: instant, known), known)
        if givers.contains(where: { !isWithheld($0, known) }) { givers.removeAll { isWithheld($0, known) } }
        let precedence: [AccountSource] = [.none, .trial, .grant, .apple]
        return givers.max { a, b in
            let ranks = (catalog.rank(of: a.tier) ?? -1, catalog.rank(of: b.tier) ?? -1)
            if ranks.0 != ranks.1 { return ranks.0 < ranks.1 }
            let ends = (a.until ?? .distantFuture, b.until ?? .distantFuture)
            if ends.0 != ends.1 { return ends.0 < ends.1 }
            if a.source != b.source {
                return (precedence.firstIndex(of: a.source) ?? 0) < (precedence.firstIndex(of: b.source) ?? 0)
            }
            return a.order > b.order
        }
    }

    /// By the last change of tier that is in force.
    private func changed(_ all: [Giver], _ known: [StaffAct]) -> [Giver] {
        for (place, act) in known.enumerated().reversed() {
            guard case .changeTier(let tier) = act.kind, catalog.tier(tier) != nil,
                let object = speaks(at: act.at, knowing: Array(known[..<place]))
            else { continue }
            func isObject(_ giver: Giver) -> Bool {
                guard giver.root == object.root else { return false }
                if let line = giver.line { return !isNew(line, at: giver.begun, since: act.at) }
                guard let line = facts.lines.first(where: { giver.root == "line\(name($0))" }), let added = giver.added
                else { return true }
                return !isNew(line, at: max(added.at, act.at), since: min(added.at, act.at))
            }
            guard all.contains(where: isObject) else { continue }
            let later = Set(known[(place + 1)...].map(\.id))
            return all.compactMap { giver in
                if isObject(giver) {
                    var giver = giver
                    (giver.tier, giver.act) = (tier, act.id)
                    return giver
                }
                if let line = giver.line { return isNew(line, at: giver.begun, since: act.at) ? giver : nil }
                if let id = giver.act { return later.contains(id) ? giver : nil }
                return giver.begun > act.at ? giver : nil
            }
        }
        return all
    }

    private func ended(at instant: Timestamp, knowing known: [StaffAct]) -> AccountPhase? {
        var found: [(phase: AccountPhase, precedence: Int, order: String)] = []
        for (place, term) in terms(known).enumerated() where term.giver.begun <= instant {
            let isTrial = term.giver.source == .trial
            var phase = AccountPhase(
                startsAt: instant, status: isTrial ? .trialExpired : .expired, tier: catalog.free.id,
                source: term.giver.source, act: term.act?.id, expiresAt: term.end)
            if let block = block(of: term, known) {
                guard term.giver.begun <= block.at else { continue }
                phase.status = .revoked
                phase.act = block.id
                phase.expiresAt = block.at
            }
            found.append((phase, isTrial ? 1 : 2, format(place)))
        }
        for line in facts.lines {
            guard let now = self.phase(line, instant), owner(line, now, instant) == facts.account else { continue }
            let begun = instants(line).filter { $0 <= instant && self.phase(line, $0) != nil }
            var last: Timestamp?
            for border in begun.reversed() {
                guard let phase = self.phase(line, border) else { break }
                let owner = owner(line, phase, border)
                if owner != nil, owner != facts.account { break }
                if worth(line, phase) != nil {
                    last = border
                    break
                }
            }
            guard let last, let given = self.phase(line, last) else { continue }
            let paid = begun.compactMap { self.phase(line, $0) }.last { $0.status.access && $0.status != .gracePeriod }
            var phase = AccountPhase(
                startsAt: instant,
                status: now.status == .revoked
                    ? .revoked : now.status != .billingRetry && paid?.inTrial ?? false ? .trialExpired : .expired,
                tier: catalog.free.id, source: .apple, productID: given.productID, purchase: line.key,
                expiresAt: next(line, after: last) { _ in true })
            let block = blocks(known).first { block in
                if isNew(line, at: last, since: block.at) { return false }
                return self.phase(line, block.at) != nil && (last > block.at || isThere(line, block.at))
            }
            if let block {
                phase.status = .revoked
                phase.act = block.id
                phase.expiresAt = block.at
            }
            found.append((phase, 3, name(line)))
        }
        return found.max { a, b in
            let ends = (a.phase.expiresAt ?? .distantPast, b.phase.expiresAt ?? .distantPast)
            if ends.0 != ends.1 { return ends.0 < ends.1 }
            return a.precedence != b.precedence ? a.precedence < b.precedence : a.order > b.order
        }?.phase
    }
}
