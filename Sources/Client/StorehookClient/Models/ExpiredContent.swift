import Foundation

/// What the screen of an ended subscription says.
struct ExpiredContent: Sendable, Hashable {
    let title: String
    let message: String
    let expiredOn: String?

    /// What it says of an account; nil where access goes on, or nothing ever gave it any.
    init?(_ facts: PlanFacts, _ texts: ClientTexts) {
        guard !facts.isAllowed, let status = facts.status, status != .free else { return nil }
        switch status {
        case .revoked:
            title = texts(.expiredRevokedTitle)
            message = texts(.expiredRevokedMessage)
        case .trialExpired, .trial:
            title = texts(.expiredTrialTitle)
            message = texts(.expiredMessage)
        default:
            title = texts(.expiredTitle)
            message = texts(.expiredMessage)
        }
        expiredOn = facts.endsAt.map { texts(.expiredOn, ["date": texts.date($0)]) }
    }
}
