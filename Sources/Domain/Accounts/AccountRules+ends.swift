import AppStorePayloads
import Base
import Subscriptions

extension AccountRules {
    /// When access ends, by what is known at an instant; nil for never.
    struct Ends {
        /// All access without a gap.
        let access: Timestamp?
        /// The present tier.
        let tier: Timestamp?
    }

    /// A source with the time for which it is known to give access.
    private struct Known {
        let candidate: Candidate
        let from: Timestamp
        /// Nil where it has no end.
        let until: Timestamp?

        func covers(_ instant: Timestamp) -> Bool {
            from <= instant && (until.map { instant < $0 } ?? true)
        }
    }

    /// The ends by what is known at an instant: the sources that give access, what Apple has charged for ahead, and the
    /// days that staff has added. Renewals that are still to come do not count, and neither does what happened later.
    /// - Parameters:
    ///   - best: the deciding source, not withheld.
    ///   - candidates: all sources, before changes of tier.
    func ends(_ best: Candidate, of candidates: [Candidate], at instant: Timestamp, before limit: Int) -> Ends {
        let known = known(candidates, at: instant, before: limit)
        if known.count == 1 { return Ends(access: best.until, tier: best.until) }
        var now = instant
        var tier: Timestamp?
        while true {
            let giving = self.best(of: known.filter { $0.covers(now) }.map(\.candidate), before: limit)
            guard let giving, !giving.isWithheld else { return Ends(access: now, tier: tier ?? now) }
            if giving.rank != best.rank { tier = tier ?? now }
            let next = known.flatMap { [$0.from, $0.until].compactMap(\.self) }.filter { $0 > now }.min()
            guard let next else { return Ends(access: nil, tier: tier) }
            now = next
        }
    }

    private func known(_ candidates: [Candidate], at instant: Timestamp, before limit: Int) -> [Known] {
        var known: [Known] = []
        /// When each purchase's access ends, added days included.
        var lineEnds: [Int: Timestamp] = [:]
        for candidate in candidates {
            known.append(Known(candidate: candidate, from: instant, until: candidate.until))
            guard let line = candidate.line, let until = candidate.until else { continue }
            if !extensions.isEmpty { lineEnds[line.place] = until }
            if let ahead = charged(after: line, at: until, by: instant) {
                known.append(ahead)
                if !extensions.isEmpty { lineEnds[line.place] = ahead.until }
            }
        }
        for added in extensions where added.act < limit && !isBlocked(added, before: limit) {
            if case .line(let place) = added.root, candidates.contains(where: { $0.line?.place == place }) {
                // They follow what is known of the purchase. Days that have begun stay where they are.
                guard let end = lineEnds[place] else { continue }
                if let lostAt = added.lostAt, lostAt <= instant {
                    guard let term = added.term else { continue }
                    lineEnds[place] = max(end, term.end)
                    if term.start > instant { known.append(self.known(added, from: term.start, until: term.end)) }
                } else {
                    let until = end.adding(days: added.days)
                    lineEnds[place] = until
                    known.append(self.known(added, from: end, until: until))
                }
            } else if let term = added.term, term.start > instant {
                known.append(self.known(added, from: term.start, until: term.end))
            }
        }
        return known
    }

    private func known(_ added: Extension, from start: Timestamp, until end: Timestamp) -> Known {
        Known(
            candidate: Candidate(
                root: added.root, rank: added.rank, source: .grant, status: .active, until: end, line: nil,
                act: added.act, since: (start, added.act)), from: start, until: end)
    }

    /// The next period of a purchase, to another product, where Apple has charged for it by an instant.
    private func charged(after line: (place: Int, span: Int), at end: Timestamp, by instant: Timestamp) -> Known? {
        let timeline = lines[line.place]
        if let renewal = timeline.spans[line.span].phase.replacedRenewal {
            return catalog.rank(ofProduct: renewal.productID, of: timeline.key.bundleID).map {
                known(line, rank: $0, from: end, until: renewal.until, isReplaced: true)
            }
        }
        guard let place = timeline.place(at: end), place > line.span else { return nil }
        let span = timeline.spans[place]
        guard span.phase.startsAt == end, let chargedAt = span.phase.chargedAt, chargedAt <= instant,
            let rank = span.worth
        else { return nil }
        return known((line.place, place), rank: rank, from: end, until: span.phase.accessUntil)
    }

    private func known(
        _ line: (place: Int, span: Int), rank: Int, from start: Timestamp, until end: Timestamp?,
        isReplaced: Bool = false
    ) -> Known {
        Known(
            candidate: Candidate(
                root: .line(line.place), rank: rank, source: .apple, status: .active, until: end, line: line, act: nil,
                since: (start, nil), isReplaced: isReplaced), from: start, until: end)
    }
}
