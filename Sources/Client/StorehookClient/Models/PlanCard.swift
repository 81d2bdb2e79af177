import Foundation

/// The card of the account's plan.
public struct PlanCard: Sendable, Hashable {
    /// What stands above it.
    public let title: String
    /// What customers call the tier.
    public let plan: String
    /// The status for people: the server's text, else the client's.
    public let status: String
    /// Until when, or since when not: `Renews on January 15, 2027`; nil where nothing is known of it.
    public let term: String?
    /// That the app is offline and this is what was last known; nil where the server or the store has said it.
    public let note: String?

    init(_ facts: PlanFacts, _ texts: ClientTexts) {
        title = texts(.planTitle)
        plan = facts.tierName ?? texts(.planFree)
        status = facts.displayStatus ?? texts((facts.status ?? .free).key)
        term = facts.term(texts)
        note = facts.isFromCache ? texts(.statusFromCache) : nil
    }
}

extension PlanFacts {
    /// Until when access goes on, or when it ended, for people.
    func term(_ texts: ClientTexts) -> String? {
        guard let endsAt else { return isAllowed && isOnce ? texts(.planForGood) : nil }
        let key: TextKey =
            switch status {
            case _ where !isAllowed: .planEndedOn
            case .gracePeriod: .planGraceUntil
            case .trial where willRenew != true: .planTrialUntil
            default: willRenew == true ? .planRenewsOn : .planEndsOn
            }
        return texts(key, ["date": texts.date(endsAt)])
    }
}
