import Base

extension AccountStatus {
    /// What a person is shown for it.
    var display: LocalizedText { Self.displays[self] ?? LocalizedText(rawValue) }

    // Made once: answers need two or more.
    private static let displays = Dictionary(uniqueKeysWithValues: allCases.map { ($0, $0.made) })

    private var made: LocalizedText {
        switch self {
        case .active: Self.text("Active", "有效", "有效")
        case .trial: Self.text("Trial", "试用中", "試用中")
        case .cancelled: Self.text("Cancelled, active until it ends", "已取消，到期前有效", "已取消，到期前有效")
        case .gracePeriod: Self.text("Payment failed, still active", "扣费失败，宽限期内有效", "扣款失敗，寬限期內有效")
        case .expired: Self.text("Expired", "已过期", "已過期")
        case .trialExpired: Self.text("Trial expired", "试用已过期", "試用已過期")
        case .revoked: Self.text("Revoked", "已撤销", "已撤銷")
        case .free: Self.text("Free", "免费", "免費")
        }
    }

    private static func text(_ english: String, _ simplified: String, _ traditional: String) -> LocalizedText {
        LocalizedText(english, others: ["zh-Hans": simplified, "zh-Hant": traditional])
    }
}
