/// A line of a subscription's details.
public struct PlanDetail: Sendable, Hashable, Identifiable {
    /// What a line is about.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// When access ends.
        case endDate
        /// Whether it renews itself.
        case renewal
        /// Apple's id of the transaction, for support.
        case transaction
    }

    /// What it is about.
    public let id: Kind
    /// What that is called.
    public let title: String
    /// What it is.
    public let value: String

    /// The lines of an account; none where nothing was ever bought or given.
    static func all(_ facts: PlanFacts, _ texts: ClientTexts) -> [PlanDetail] {
        guard let status = facts.status, status != .free else { return [] }
        var details: [PlanDetail] = []
        if let end = facts.endsAt {
            details.append(PlanDetail(id: .endDate, title: texts(.detailEndDate), value: texts.date(end)))
        } else if facts.isAllowed, facts.isOnce {
            details.append(PlanDetail(id: .endDate, title: texts(.detailEndDate), value: texts(.planForGood)))
        }
        let renewal: TextKey =
            facts.isOnce ? .renewalNone : facts.willRenew.map { $0 ? .renewalOn : .renewalOff } ?? .renewalUnknown
        details.append(PlanDetail(id: .renewal, title: texts(.detailRenewal), value: texts(renewal)))
        if let transaction = facts.transactionID {
            details.append(PlanDetail(id: .transaction, title: texts(.detailTransaction), value: transaction))
        }
        return details
    }
}
