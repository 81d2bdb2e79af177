import APIKit
import Accounts
import Base
import Subscriptions

/// Why a purchase that was proven opens nothing.
struct NoAccess: Sendable, Hashable {
    /// The reasons; the raw values stay.
    enum Reason: String, Sendable, Hashable, NamedWords {
        static let schemaName = "NoAccessReason"

        /// It was bought outside Production, and this account is not one whose purchases there count.
        case sandboxNotCounted = "sandbox_not_counted"
        /// It has ended, was revoked, or has not begun.
        case notCurrent = "not_current"
        /// Staff took the access away, or the catalog gives nothing for it.
        case overruled
    }

    let reason: Reason

    /// - Parameters:
    ///   - purchase: as the account in its own environment has it; nil where that shows none.
    ///   - countsSandbox: whether the account's purchases outside Production give access.
    /// - Returns: nil where it opens something, or where nothing is shown that could.
    init?(_ purchase: SubscriptionView?, countsSandbox: Bool) {
        guard let purchase else { return nil }
        if purchase.key.environment != Environment.production.rawValue, !countsSandbox {
            reason = .sandboxNotCounted
        } else if !purchase.access {
            reason = .notCurrent
        } else if !purchase.givesAccess {
            reason = .overruled
        } else {
            return nil
        }
    }

    /// For the app's developers, in the reader's language.
    var detail: LocalizedText {
        switch reason {
        case .sandboxNotCounted:
            LocalizedText(
                "it was bought in Sandbox, Xcode or LocalTesting, where purchases count for the accounts of STOREHOOK_TESTERS alone, or with "
                    + "STOREHOOK_SANDBOX_ACCESS=all for all, App Review's among them",
                others: [
                    "zh-Hans":
                        "这是沙盒、Xcode 或 LocalTesting 中的购买：此类购买仅对 STOREHOOK_TESTERS 中的账号有效；设置 STOREHOOK_SANDBOX_ACCESS=all 则对所有账号（包括 App 审核）有效",
                    "zh-Hant":
                        "這是沙盒、Xcode 或 LocalTesting 中的購買：此類購買僅對 STOREHOOK_TESTERS 中的帳號有效；設定 STOREHOOK_SANDBOX_ACCESS=all 則對所有帳號（包括 App 審查）有效",
                ])
        case .notCurrent:
            LocalizedText(
                "it has ended, was taken back, or has not begun",
                others: ["zh-Hans": "该购买已结束、已撤销或尚未开始", "zh-Hant": "該購買已結束、已撤銷或尚未開始"])
        case .overruled:
            LocalizedText(
                "it is paid for, and staff took its access away, or the catalog gives nothing for it",
                others: [
                    "zh-Hans": "该购买已付款，但其权限已由工作人员取消，或产品目录未为其提供任何权限", "zh-Hant": "該購買已付款，但其權限已由工作人員取消，或產品目錄未為其提供任何權限",
                ])
        }
    }
}
