/// What gives an account something, and whether it was there when staff acted.
extension AccountModel {
    /// What a line is, whichever account has it.
    func standing(of line: String, at instant: Int64) -> Standing? {
        if let model = lines[line] {
            guard let verdict = model.verdict(at: instant) else { return nil }
            guard let tier = life.catalog.tier(of: verdict.period.product) else {
                // What is not sold gives nothing; what was before it on the line has ended.
                let status =
                    verdict.status == .revoked ? "revoked" : verdict.period.isTrial ? "trial_expired" : "expired"
                return Standing(
                    source: .line(line), status: status, access: false, tier: life.catalog.tiers.first ?? "")
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

    func owner(of line: String, at instant: Int64) -> String? {
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
    func standing(of source: Source, at instant: Int64) -> Standing? {
        if case .line(let line) = source, owner(of: line, at: instant) != life.account { return nil }
        return standingForAnyone(of: source, at: instant)
    }

    func standingForAnyone(of source: Source, at instant: Int64) -> Standing? {
        if let known = known[source]?[instant] { return known }
        let standing = newStanding(of: source, at: instant)
        known[source, default: [:]][instant] = .some(standing)
        return standing
    }

    func newStanding(of source: Source, at instant: Int64) -> Standing? {
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

    var sources: [Source] {
        var sources = life.lines.map { Source.line($0) }
        for act in acts {
            if case .grant = act.kind { sources.append(.grant(act.id)) }
            if case .extend = act.kind { sources.append(.days(act.id)) }
        }
        if life.trial != nil { sources.append(.trial) }
        return sources
    }

    func begun(_ line: String, _ model: LineModel, by instant: Int64) -> [LinePeriod] {
        if let known = knownPeriods[line]?[instant] { return known }
        let periods = model.begun(by: instant)
        knownPeriods[line, default: [:]][instant] = periods
        return periods
    }

    /// What days were added to; anything else is its own root.
    func root(of source: Source) -> Source {
        if case .days(let id) = source { return targets[id] ?? source }
        return source
    }

    /// Whether what a source is at an instant was there already when staff acted.
    ///
    /// On a line a new source begins with a purchase that the customer makes after the act, and all that follows belongs
    /// to it.
    /// - Parameter moment: a later one, at which it goes on as far as is known at the instant.
    func wasThere(
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
    func isNew(
        _ period: LinePeriod, after act: LifeAct, among periods: [LinePeriod], of model: LineModel
    ) -> Bool {
        guard period.begins > act.at else { return false }
        if period.reason == "PURCHASE" || model.isBoughtAfterLapse(period) { return true }
        // Renewed, or only heard of: to the product that was there, or to the one that was to follow, it is the old one.
        // A line that nothing older was heard of begins with what was heard first.
        guard let before = periods.last(where: { $0.begins <= act.at }) else { return true }
        guard before.product != period.product, period.firstSigned > act.at else { return false }
        return model.nextProduct(at: act.at) != period.product
    }
}
