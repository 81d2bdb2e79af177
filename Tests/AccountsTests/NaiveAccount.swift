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

    /// What gives access: a purchase by its number and stretch, a grant or added days by the act, or the trial.
    struct Giver: Equatable {
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
    }

    /// What the account is at an instant.
    func value(at instant: Timestamp) -> AccountPhase {
        let known = acts.filter { $0.at <= instant }
        if let giver = speaks(at: instant, knowing: known) {
            return AccountPhase(
                startsAt: instant, status: giver.status, tier: giver.tier, source: giver.source,
                productID: giver.phase?.productID, purchase: giver.purchase, act: giver.act, expiresAt: giver.until,
                willRenew: giver.phase?.willRenew ?? false, inTrial: giver.phase?.inTrial ?? (giver.source == .trial))
        }
        return ended(at: instant, knowing: known)
            ?? AccountPhase(startsAt: instant, status: .free, tier: catalog.free.id, source: .none)
    }

    // MARK: Purchases

    private func owner(_ line: AccountLine, _ phase: LinePhase, _ instant: Timestamp) -> UniqueIdentifier? {
        var (moved, proven): (UniqueIdentifier?, UniqueIdentifier?)
        var erased: Set<UniqueIdentifier> = []
        for binding in line.ownership.bindings where binding.at <= instant {
            switch binding.kind {
            case .staff: moved = binding.account
            case .proof, .transfer: proven = binding.account
            case .erasure:
                erased.insert(binding.account)
                (moved, proven) = (nil, nil)
            }
        }
        if let moved { return moved }
        if let signed = phase.signedAccount, !erased.contains(signed) { return signed }
        if let proven { return proven }
        let others = line.ownership.bindings.filter { $0.kind != .staff }
        return others.first?.kind == .proof && erased.isEmpty ? others[0].account : nil
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

    /// All instants at which anything about a purchase may change, in order.
    private func instants(_ line: AccountLine) -> [Timestamp] {
        var instants = line.ownership.bindings.map(\.at)
        switch line.content {
        case .subscription(let phases): instants += phases.map(\.startsAt)
        case .oneTime(let bought):
            instants += [bought.purchasedAt, bought.expiresAt, bought.revokedAt].compactMap(\.self)
            if let end = phase(line, bought.purchasedAt)?.accessUntil { instants.append(end) }
        }
        return instants.sorted()
    }

    private func stretch(_ line: AccountLine, _ instant: Timestamp) -> Timestamp? {
        guard isThere(line, instant) else { return nil }
        var start = instant
        for earlier in instants(line).reversed() where earlier <= instant {
            guard isThere(line, earlier) else { break }
            start = earlier
        }
        return start
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

    private func block(of line: AccountLine, in stretch: Timestamp, _ known: [StaffAct]) -> StaffAct? {
        blocks(known).first { self.stretch(line, $0.at) == stretch }
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
        if let trial = facts.trial, catalog.tier(trial.tier) != nil {
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
            case .grant(let tier, let days) where catalog.tier(tier) != nil:
                giver.tier = tier
                giver.until = act.at.adding(days: days)
            case .extend(let days):
                guard let extended = speaks(at: act.at, knowing: before) else { continue }
                var start: Timestamp?
                if let line = facts.lines.first(where: { extended.root.hasPrefix("line\(name($0))/") }) {
                    start =
                        tier(line, act.at) == nil ? act.at : next(line, after: act.at) { tier(line, $0) == nil }
                    guard let lost = start, let phase = phase(line, lost), phase.status != .revoked,
                        owner(line, phase, lost) == facts.account
                    else { continue }
                } else {
                    start = terms.first { $0.giver.name == extended.root }.map { max($0.end, act.at) }
                }
                guard var start else { continue }
                let source = extended.root.split(separator: "/")[0]
                for term in terms
                where term.giver.name != term.giver.root && term.giver.root.split(separator: "/")[0] == source
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
            guard let tier = tier(line, instant), let stretch = stretch(line, instant),
                let phase = phase(line, instant),
                block(of: line, in: stretch, known) == nil, catalog.rank(of: tier) != nil
            else { continue }
            let status: AccountStatus =
                switch phase.status {
                case .trial: .trial
                case .cancelled: .cancelled
                case .gracePeriod: .gracePeriod
                default: .active
                }
            let root = "line\(name(line))/\(stretch.millisecondsSince1970)"
            givers.append(
                Giver(
                    name: root, root: root, tier: tier, source: .apple, status: status, until: phase.accessUntil,
                    begun: stretch, order: name(line), phase: phase, purchase: line.key))
        }
        return givers
    }

    private func speaks(at instant: Timestamp, knowing known: [StaffAct]) -> Giver? {
        var givers = givers(at: instant, known)
        for (place, act) in known.enumerated().reversed() {
            guard case .changeTier(let tier) = act.kind, catalog.tier(tier) != nil,
                let changed = speaks(at: act.at, knowing: Array(known[..<place])),
                givers.contains(where: { $0.root == changed.root })
            else { continue }
            let later = Set(known[(place + 1)...].map(\.id))
            givers = givers.filter { giver in
                if giver.root == changed.root { return true }
                if let act = giver.act { return later.contains(act) }
                return giver.begun > act.at
            }
            for index in givers.indices where givers[index].root == changed.root {
                givers[index].tier = tier
                givers[index].act = act.id
            }
            break
        }
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
            let begun = instants(line).filter { $0 <= instant }
            guard let last = begun.last(where: { tier(line, $0) != nil }), let given = self.phase(line, last) else {
                continue
            }
            var phase = AccountPhase(
                startsAt: instant,
                status: now.status == .revoked ? .revoked : given.inTrial ? .trialExpired : .expired,
                tier: catalog.free.id, source: .apple, productID: given.productID, purchase: line.key,
                expiresAt: next(line, after: last) { tier(line, $0) == nil })
            if let stretch = stretch(line, last), let block = block(of: line, in: stretch, known) {
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
