/// What ended last, where nothing gives access.
extension AccountModel {
    /// When a source that gives nothing at an instant last gave something, to the account or while it had no owner; nil for never. Not for this
    /// account was:
    /// - what it gave without an owner, before it was another account's;
    /// - what it gave to the account before that was erased.
    private func end(of source: Source, at instant: Int64) -> Int64? {
        var wasOthers = false
        for border in own.reversed() where border <= instant {
            if isOthers(source, at: border - 1) {
                wasOthers = true
            } else if standingForAnyone(of: source, at: border - 1)?.access ?? false {
                let isOurs = border > life.erased ?? .min && standing(of: source, at: border - 1) != nil
                if isOurs || !wasOthers { return border }
            }
        }
        return nil
    }

    /// The last moment by an instant at which a source gave something to the account, or would have without what staff did; nil
    /// where there is none, or where it is none of the account's.
    private func lastGiven(_ source: Source, by instant: Int64) -> Int64? {
        guard let standing = standing(of: source, at: instant) else { return nil }
        return standing.access ? instant : end(of: source, at: instant).map { $0 - 1 }
    }

    /// Whether a source is a line of another account.
    private func isOthers(_ source: Source, at instant: Int64) -> Bool {
        guard case .line(let line) = source, let owner = owner(of: line, at: instant) else { return false }
        return owner != life.account
    }

    /// What ended last, where nothing gives access; nil where nothing ever did.
    ///
    /// Of each source that counts what it last gave: a purchase that the customer made later, and that gives nothing, ends nothing.
    func ended(
        _ blocks: [LifeAct], at instant: Int64, by acts: [LifeAct]
    ) -> (at: Int64, standing: Standing)? {
        var ends: [(at: Int64, standing: Standing)] = []
        for source in sources {
            guard let now = standing(of: source, at: instant), let moment = lastGiven(source, by: instant) else {
                continue
            }
            let block = blocks.first { $0.at <= moment && wasThere(source, when: $0, at: moment) }
            guard let block else {
                // It ended by itself.
                if let end = end(of: source, at: instant) { ends.append((end, now)) }
                continue
            }
            // What had ended before a block has ended then; that more would have followed is staff's doing. What gave nothing before
            // is taken back at the block.
            if !isOthers(source, at: block.at), var before = standingForAnyone(of: source, at: block.at),
                !before.access
            {
                before.status = "revoked"
                ends.append((end(of: source, at: block.at) ?? block.at, before))
            }
        }
        // A block ends what is there: what gives access, and what Apple tries to charge; and is about what is still there.
        for block in blocks {
            let earlier = acts.filter { ($0.at, $0.id) < (block.at, block.id) }
            let blocksThen = self.blocks(at: block.at, by: earlier)
            let there = sources.compactMap { source -> Standing? in
                guard let moment = lastGiven(source, by: instant), wasThere(source, when: block, at: moment),
                    !blocksThen.contains(where: { wasThere(source, when: $0, at: moment) }),
                    block.at <= moment || !isOthers(source, at: block.at),
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
}
