import AppStorePayloads
import Base
import Subscriptions

extension AccountRules {
    /// Every instant at which the answer may change, in order, the beginning of time first. Some occur twice.
    var instants: [Timestamp] {
        var instants: [Timestamp] = [.distantPast]
        for line in lines {
            for span in line.spans {
                instants.append(span.startsAt)
                // From then on more is known to be paid for.
                if let chargedAt = span.phase.chargedAt { instants.append(chargedAt) }
                // From then on a renewal is waited for.
                if span.gives, let end = span.phase.accessUntil { instants.append(end) }
            }
        }
        for act in acts { instants.append(act.at) }
        for term in terms { instants += [term.start, term.end] }
        return instants.sorted()
    }

    /// The account's phase at an instant, and the purchases that count then.
    func value(at instant: Timestamp) -> (phase: AccountPhase, counting: [(purchase: PurchaseKey, productID: String)]) {
        let limit = acts.partitioningIndex { $0.at > instant }
        let candidates = candidates(at: instant, before: limit)
        let counting = counting(candidates, before: limit)
        return (phase(by: candidates, counting, at: instant, before: limit), purchases(of: counting))
    }

    private func phase(
        by candidates: [Candidate], _ counting: [Candidate], at instant: Timestamp, before limit: Int
    ) -> AccountPhase {
        if let best = best(of: candidates, before: limit) {
            return best.isWithheld
                ? withheld(best, at: instant) : phase(best, of: candidates, counting, at: instant, before: limit)
        }
        guard let ended = lastEnded(at: instant, before: limit) else {
            return AccountPhase(startsAt: instant, status: .free, tier: catalog.free.id, source: .none)
        }
        return AccountPhase(
            startsAt: instant, status: ended.status, tier: catalog.free.id, source: ended.source,
            productID: ended.productID, purchase: ended.line.map { lines[$0].key }, act: ended.act.map { acts[$0].id },
            expiresAt: ended.at)
    }

    private func phase(
        _ best: Candidate, of candidates: [Candidate], _ counting: [Candidate], at instant: Timestamp, before limit: Int
    ) -> AccountPhase {
        let phase = phase(of: best)
        let ends = ends(best, of: candidates, at: instant, before: limit)
        let renewing = counting.filter { self.phase(of: $0)?.willRenew ?? false }
        return AccountPhase(
            startsAt: instant, status: best.status, tier: catalog.tiers[best.rank].id, source: best.source,
            productID: phase?.productID, purchase: best.line.map { lines[$0.place].key },
            act: best.act.map { acts[$0].id }, expiresAt: ends.access, willRenew: !renewing.isEmpty,
            inTrial: phase?.inTrial ?? (best.source == .trial),
            ends: AccountPhase.Ends(
                source: best.until, tier: ends.tier, period: phase == nil ? best.until : phase?.periodEndsAt),
            goesOn: renewing.contains { $0.status != .gracePeriod })
    }

    /// Staff changed the deciding source's tier to the lowest: that is what everybody has.
    private func withheld(_ best: Candidate, at instant: Timestamp) -> AccountPhase {
        AccountPhase(
            startsAt: instant, status: .free, tier: catalog.free.id, source: best.source,
            productID: phase(of: best)?.productID, purchase: best.line.map { lines[$0.place].key },
            act: best.act.map { acts[$0].id })
    }

    private func phase(of candidate: Candidate) -> LinePhase? {
        candidate.line.map { lines[$0.place].spans[$0.span].phase }
    }

    /// A source that no longer gives access.
    private struct Ended {
        let at: Timestamp
        let status: AccountStatus
        let source: AccountSource
        var line: Int?
        var productID: String?
        /// The act to show.
        var act: Int?
        /// The act that gave it.
        var given: Int?

        /// Whether it takes precedence over the other.
        func outranks(_ other: Ended) -> Bool {
            if at != other.at { return at > other.at }
            if source != other.source { return source.precedence > other.source.precedence }
            return (line ?? 0, given ?? 0) < (other.line ?? 0, other.given ?? 0)
        }
    }

    private func lastEnded(at instant: Timestamp, before limit: Int) -> Ended? {
        var ended = terms.compactMap { self.ended($0, at: instant, before: limit) }
        for place in lines.indices {
            if let line = self.ended(line: place, at: instant, before: limit) { ended.append(line) }
        }
        return ended.reduce(nil) { last, next in
            guard let last else { return next }
            return next.outranks(last) ? next : last
        }
    }

    private func ended(_ term: Term, at instant: Timestamp, before limit: Int) -> Ended? {
        guard term.start <= instant, term.act.map({ $0 < limit }) ?? true else { return nil }
        if let block = block(of: term, before: limit) {
            // Days that were to begin later gave nothing.
            guard term.start <= block.at else { return nil }
            return Ended(at: block.at, status: .revoked, source: term.source, act: block.act, given: term.act)
        }
        return Ended(
            at: term.end, status: term.act == nil ? .trialExpired : .expired, source: term.source, act: term.act,
            given: term.act)
    }

    private func ended(line place: Int, at instant: Timestamp, before limit: Int) -> Ended? {
        let line = lines[place]
        guard let now = line.span(at: instant), now.isOwned, let last = line.lastGiven(by: instant) else { return nil }
        let productID = line.spans[last.place].phase.productID
        if let block = block(ofEndedLine: place, last.place, before: limit) {
            // Where it was refunded at the block, and Apple took that refund back later, it had ended before the block.
            let then = line.span(at: block.at)
            let hadEnded = then.map { $0.mayCount && !$0.isThere } ?? false
            return Ended(
                at: (hadEnded ? line.lastGiven(by: block.at)?.end : nil) ?? block.at, status: .revoked, source: .apple,
                line: place, productID: productID, act: block.act)
        }
        let status: AccountStatus =
            switch now.phase.status {
            case .revoked: .revoked
            // The charge may still go through.
            case .billingRetry: .expired
            default: line.hasEndedAsTrial(at: instant) ? .trialExpired : .expired
            }
        return Ended(at: last.end ?? instant, status: status, source: .apple, line: place, productID: productID)
    }
}
