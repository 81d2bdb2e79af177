public import Foundation

/// What an app shows above its content while access ends soon. Access goes on beside it.
public struct RenewalBanner: Sendable, Hashable {
    /// Why it is shown.
    public enum Reason: Sendable, Hashable {
        /// What was paid for ends, and does not renew itself.
        case ending
        /// A trial ends, and nothing was paid.
        case trialEnding
        /// The charge failed. Access goes on while Apple tries again.
        case paymentFailed
    }

    /// Why it is shown.
    public let reason: Reason
    /// What it says.
    public let text: String
    /// What stands on its button, which leads to the paywall, or to where the payment method is changed.
    public let action: String
    /// When access ends, by what is known.
    public let endsAt: Date?
}

extension RenewalBanner {
    /// The banner of an instant; nil where there is nothing to say.
    init?(_ facts: PlanFacts, at now: Date, _ texts: ClientTexts) {
        guard facts.isAllowed else { return nil }
        if facts.status == .gracePeriod {
            self.init(
                reason: .paymentFailed, text: texts(.bannerGrace), action: texts(.bannerUpdatePayment),
                endsAt: facts.endsAt)
            return
        }
        guard facts.isEndingSoon, let end = facts.endsAt else { return nil }
        let days = Self.days(from: now, to: end, in: texts.timeZone)
        let isTrial = facts.status == .trial
        let keys: (today: TextKey, later: TextKey) =
            isTrial ? (.bannerTrialEndsToday, .bannerTrialEndsInDays) : (.bannerEndsToday, .bannerEndsInDays)
        self.init(
            reason: isTrial ? .trialEnding : .ending,
            text: days <= 0 ? texts(keys.today) : texts(keys.later, count: Int64(days)),
            action: texts(isTrial ? .bannerSubscribe : .bannerRenew), endsAt: end)
    }

    /// How many midnights lie between two instants.
    private static func days(from now: Date, to end: Date, in timeZone: TimeZone) -> Int {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        let days = calendar.dateComponents(
            [.day], from: calendar.startOfDay(for: now), to: calendar.startOfDay(for: end))
        return days.day ?? 0
    }
}
