/// When access and the tier end, by what is known at an instant.
extension AccountModel {
    /// A time for which a source is known to give a tier.
    struct Known {
        var source: Source
        var tier: String
        var from: Int64
        /// Nil for one without an end.
        var until: Int64?

        func covers(_ moment: Int64) -> Bool { from <= moment && until.map { moment < $0 } ?? true }
    }

    /// All that is known to give something from an instant on, if nothing else happens.
    func known(
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

    /// When access ends, and when the tier becomes another one, if nothing else happens.
    func ends(_ known: [Known], at instant: Int64, by acts: [LifeAct]) -> (access: Int64?, tier: Int64?) {
        let now = rank(known, at: instant, knowing: instant, by: acts)
        var tier: Int64?
        for border in Set(known.flatMap { [$0.from] + [$0.until].compactMap { $0 } }).sorted() where border > instant {
            let next = rank(known, at: border, knowing: instant, by: acts)
            if next != now { tier = tier ?? border }
            if next == nil { return (border, tier) }
        }
        return (nil, tier)
    }
}
