package import Accounts
import AppStorePayloads
import Base
import Events
import Foundation
package import Postgres
import PurchaseStore

/// Why an act of staff cannot be done.
package enum ActRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// No catalog was ever applied.
    case noCatalog
    /// The catalog has no such tier.
    case unknownTier(String, known: [String])
    /// The tier to be granted is the lowest, which everybody has.
    case lowestTier(String)
    /// Nothing gives the account access.
    case noAccess
    /// What gives access has no end.
    case noEnd
    /// Nothing gives access, or would if the charge went through.
    case nothingThere
    /// There is no block to lift.
    case notRevoked

    /// One line: what happened, and what to do.
    package var description: String {
        switch self {
        case .noCatalog:
            "no catalog was applied yet, so that no account has anything; apply one with storehook catalog apply"
        case .unknownTier(let tier, let known):
            "the catalog has no tier \(tier); it has \(known.joined(separator: ", "))"
        case .lowestTier(let tier):
            "the tier \(tier) is the lowest: everybody has it, so there is nothing to grant; name a higher one"
        case .noAccess: "nothing gives the account access now; grant it a tier instead"
        case .noEnd: "what gives the account access has no end, so there is nothing to extend"
        case .nothingThere: "nothing gives the account access now, so there is nothing to revoke"
        case .notRevoked: "no block of the account's stands"
        }
    }
}

extension AccountStore {
    /// Does something for an account in Production, on record.
    /// - Parameters:
    ///   - person: who does it.
    /// - Returns: the act, and what the account was before it and is after.
    /// - Throws: ``ActRefusal``, and then nothing is recorded.
    package func act(
        _ kind: StaffAct.Kind, for account: AccountIdentity, by person: String, why: String,
        _ session: borrowing PostgresSession
    ) throws -> AccountChange<(act: StaffAct, before: AccountPhase, after: AccountPhase)> {
        let token = account.token
        try account.holdRule(session)
        try hold([token], naming: account, session)
        let moment = try AccountMoment(session)
        guard let version = moment.current else { throw ActRefusal.noCatalog }
        let timeline = try timeline(version, session)
        let catalog = timeline.last
        if let tier = kind.tier, catalog.tier(tier) == nil {
            throw ActRefusal.unknownTier(tier, known: catalog.tiers.map(\.id))
        }
        if case .grant(let tier, _) = kind, tier == catalog.free.id { throw ActRefusal.lowestTier(tier) }
        let now = Timestamp(moment.clock)
        let known = try load([token], for: timeline.catalogs, extent: .whole, session)
            .first { $0.environment == Environment.production.rawValue }
        let facts = known?.facts ?? AccountFacts(account: token)
        // Of two acts within a millisecond the later one is dated a millisecond later.
        let act = StaffAct(
            id: .max, at: max(now, facts.acts.map(\.at).max()?.adding(milliseconds: 1) ?? now), kind: kind)
        var changed = facts
        changed.acts.append(act)
        let (was, would) = (AccountState(facts, by: timeline), AccountState(changed, by: timeline))
        try kind.refuse(was, would, facts.acts, at: act.at)
        let (before, after) = (was.value(at: act.at), would.value(at: act.at))
        let id = try record(act, for: token, by: person, why: why, (before, after), session)
        return AccountChange(
            (act: StaffAct(id: id, at: act.at, kind: kind), before: before, after: after),
            try settle([token], under: moment, session), cause: kind.cause)
    }

    /// The database takes the row into the audit when the transaction commits.
    private func record(
        _ act: StaffAct, for token: UniqueIdentifier, by person: String, why: String,
        _ phases: (before: AccountPhase, after: AccountPhase), _ session: borrowing PostgresSession
    ) throws -> Int64 {
        try session.query(
            PostgresQuery(
                "accounts.act",
                """
                insert into storehook.staff_acts (token, kind, tier, days, at, recorded_by, why, before, after)
                values (\(UUID(token)), \(act.kind.name), \(act.kind.tier), \(act.kind.days.map { Int32(clamping: $0) }),
                        \(PostgresTimestamp(act.at)), \(String(person.prefix(200))), \(why),
                        \(phases.before.audited), \(phases.after.audited))
                returning id
                """)
        ).one().decode(0)
    }
}

extension AccountPhase {
    /// What the audit has of it, as JSON: nothing of it is personal.
    fileprivate var audited: String {
        JSONValue.object([
            .init("status", .string(status.rawValue)), .init("tier", .string(tier)),
            .init("expires_at", .time(expiresAt)),
        ]).text
    }
}

extension StaffAct.Kind {
    /// The cause that events give for the change.
    fileprivate var cause: EventCause {
        switch self {
        case .grant: .grant
        case .extend, .revoke, .unrevoke, .changeTier: .staff
        }
    }

    /// Throws the reason if the act would do nothing.
    fileprivate func refuse(
        _ was: AccountState, _ would: AccountState, _ acts: [StaffAct], at instant: Timestamp
    ) throws(ActRefusal) {
        switch self {
        case .grant: return
        case .extend:
            guard was.value(at: instant).access else { throw .noAccess }
            guard was != would else { throw .noEnd }
        case .changeTier:
            // What was changed to the lowest tier gives no access, and can be changed again.
            guard was.value(at: instant).access || was != would else { throw .noAccess }
        case .revoke:
            guard was != would else { throw .nothingThere }
        case .unrevoke:
            guard let last = acts.sorted().last(where: { $0.kind == .revoke || $0.kind == .unrevoke }),
                last.kind == .revoke
            else { throw .notRevoked }
        }
    }
}
