import Accounts

/// The words of the EmoFlow dialect (`/subscription/…`), as the apps of that backend know them.
enum EmoFlowWords {
    /// What `status` is where all went well.
    static let success = "success"
    static let verified = "订阅验证成功"
    static let refreshed = "订阅状态刷新成功"
    static let listed = "获取产品列表成功"
    static let restored = "恢复购买成功"

    /// The four statuses of that dialect.
    static let statuses = ["active", "expired", "cancelled", "inactive"]

    /// One of them.
    static func status(_ status: AccountStatus) -> String {
        switch status {
        case .active, .trial, .gracePeriod: "active"
        case .cancelled: "cancelled"
        case .free: "inactive"
        case .expired, .trialExpired, .revoked: "expired"
        }
    }

    /// What a product's period is called there.
    static func period(_ period: Catalog.Period) -> String {
        switch period {
        case .week: "weekly"
        case .month: "monthly"
        case .twoMonths: "bimonthly"
        case .quarter: "quarterly"
        case .halfYear: "half_yearly"
        case .year: "yearly"
        case .lifetime: "lifetime"
        case .term: "term"
        }
    }

    /// What a period is called for people, where the catalog does not say.
    static func periodDisplay(_ period: Catalog.Period) -> String {
        switch period {
        case .week: "每周"
        case .month: "每月"
        case .twoMonths: "每两个月"
        case .quarter: "每季度"
        case .halfYear: "每半年"
        case .year: "每年"
        case .lifetime: "终身"
        case .term: "单次"
        }
    }

    /// The dialect is Chinese, whatever language a client asks for.
    static let languages = ["zh-Hans", "zh"]
}
