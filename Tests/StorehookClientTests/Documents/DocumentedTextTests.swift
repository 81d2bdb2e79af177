import Testing

@testable import StorehookClient

/// The texts that the documents give the client, in its three languages: what stands in a table, with its values' names.
@Suite("The texts of the documents")
struct DocumentedTextTests {
    private static let texts: [(TextKey, String, String, String)] = [
        (.bannerEndsInDays, "Your subscription ends in {count} days", "你的订阅将在 {count} 天后到期", "你的訂閱將於 {count} 天後到期"),
        (.bannerEndsToday, "Your subscription ends today", "你的订阅今天到期", "你的訂閱今天到期"),
        (
            .bannerGrace, "Your payment failed. Update your payment method to keep access", "扣费失败，请更新支付方式以继续使用",
            "扣款失敗，請更新付款方式以繼續使用"
        ),
        (.bannerRenew, "Renew", "续订", "續訂"),
        (.bannerSubscribe, "Subscribe", "订阅", "訂閱"),
        (.bannerTrialEndsInDays, "Your trial ends in {count} days", "你的试用将在 {count} 天后结束", "你的試用將於 {count} 天後結束"),
        (.bannerUpdatePayment, "Update payment method", "更新支付方式", "更新付款方式"),
        (.buy, "Buy", "立即购买", "立即購買"),
        (.cellInTotal, "{amount} in total", "共{amount}", "共{amount}"),
        (.cellIncluded, "Included", "开放", "開放"),
        (.cellNotIncluded, "Not included", "未开放", "未開放"),
        (.cellPerDay, "{amount} a day", "{amount}/天", "{amount}/天"),
        (.cellPerMonth, "{amount} a month", "{amount}/月", "{amount}/月"),
        (.cellUnlimited, "Unlimited", "无限制", "無限制"),
        (.comparisonTitle, "Compare plans", "功能对比", "功能比較"),
        (.contactSupport, "Contact support", "联系支持", "聯絡客服"),
        (.detailEndDate, "End date", "到期日", "到期日"),
        (.detailRenewal, "Renewal", "续费状态", "續訂狀態"),
        (.detailTransaction, "Transaction ID", "交易 ID", "交易 ID"),
        (
            .errorCachedStatus, "The answer could not be read. Your last known status stays", "无法读取最新状态，继续使用上次的状态",
            "無法讀取最新狀態，將沿用上次的狀態"
        ),
        (
            .errorFreeUntilRead, "The kept status could not be read. Go online or restore your purchases",
            "无法读取本地状态，请联网或恢复购买", "無法讀取本機狀態，請連線或恢復購買"
        ),
        (.errorNetwork, "No connection. Check your network and try again", "无法连接，请检查网络后重试", "無法連線，請檢查連線後再試一次"),
        (
            .errorOtherAccount,
            "This purchase belongs to another account. Sign in with that account, or contact support",
            "此购买属于其他账号，请登录该账号或联系支持", "此購買屬於其他帳號，請登入該帳號或聯絡客服"
        ),
        (.errorSignIn, "Please sign in again", "请重新登录", "請重新登入"),
        (
            .errorUnknown, "Something went wrong. If it happens again, contact support", "发生未知错误。如再次出现，请联系支持",
            "發生未知的錯誤。若再次發生，請聯絡客服"
        ),
        (.errorVerification, "The purchase could not be verified, so it was not applied", "购买验证失败，未生效", "購買驗證失敗，未生效"),
        (.expiredMessage, "Renew to go on. Your data is kept", "请续订以继续使用，你的数据不会丢失", "請續訂以繼續使用，你的資料不會遺失"),
        (.expiredOn, "Expired on {date}", "过期日期：{date}", "到期日期：{date}"),
        (.expiredTitle, "Your subscription has expired", "订阅已过期", "訂閱已過期"),
        (.gateLeftDay, "{feature}: only {count} left today.", "「{feature}」今天还剩{amount}。", "「{feature}」今天還剩{amount}。"),
        (
            .gateLeftMonth, "{feature}: only {count} left this month.", "「{feature}」本月还剩{amount}。",
            "「{feature}」本月還剩{amount}。"
        ),
        (.gateLeftTotal, "{feature}: only {count} left.", "「{feature}」还剩{amount}。", "「{feature}」還剩{amount}。"),
        (
            .gateLimitDay, "{feature}: all {amount} of today are used. Upgrade to {tier} for more.",
            "「{feature}」今天的{amount}已用完，升级到{tier}可获得更多。", "「{feature}」今天的{amount}已用完，升級到{tier}可獲得更多。"
        ),
        (
            .gateLimitMonth, "{feature}: all {amount} of this month are used. Upgrade to {tier} for more.",
            "「{feature}」本月的{amount}已用完，升级到{tier}可获得更多。", "「{feature}」本月的{amount}已用完，升級到{tier}可獲得更多。"
        ),
        (
            .gateLimitTotal, "{feature}: all {amount} are used. Upgrade to {tier} for more.",
            "「{feature}」的{amount}已用完，升级到{tier}可获得更多。", "「{feature}」的{amount}已用完，升級到{tier}可獲得更多。"
        ),
        (
            .gateTierRequired, "Upgrade to {tier} to use {feature}.", "升级到{tier}即可使用「{feature}」。",
            "升級到{tier}即可使用「{feature}」。"
        ),
        (.lockedTitle, "Locked features", "锁定的功能", "鎖定的功能"),
        (.manageSubscription, "Manage subscription", "管理订阅", "管理訂閱"),
        (.paywallTitle, "Unlock {tier}", "解锁{tier}", "解鎖{tier}"),
        (.periodMonth, "Monthly", "月度", "每月"),
        (.periodYear, "Yearly", "年度", "每年"),
        (.planTitle, "Your plan", "当前计划", "目前方案"),
        (.popular, "Most popular", "最受欢迎", "最受歡迎"),
        (.pricePerDay, "Only {price} a day", "仅需{price}/天", "每天只要{price}"),
        (.pricePerMonth, "{price}/month", "{price}/月", "{price}/月"),
        (.pricePerYear, "{price}/year", "{price}/年", "{price}/年"),
        (.privacyPolicy, "Privacy policy", "隐私政策", "隱私權政策"),
        (.purchaseDone, "Thank you. {tier} is unlocked", "购买成功，已解锁{tier}", "購買成功，已解鎖{tier}"),
        (
            .purchasePending, "Your purchase waits for approval. It opens by itself once it is approved",
            "购买正在等待批准，批准后会自动生效", "購買正在等待核准，核准後會自動生效"
        ),
        (.renewNow, "Renew now", "立即续订", "立即續訂"),
        (.restoreDone, "{count} purchases were restored", "已恢复 {count} 项购买", "已恢復 {count} 項購買"),
        (.restoreFailed, "Your purchases could not be restored", "恢复购买失败", "無法恢復購買"),
        (
            .restoreGuideAccount, "Sign in to the App Store with the Apple Account that you bought with",
            "请使用购买时的 Apple 账户登录 App Store", "請使用購買時的 Apple 帳號登入 App Store"
        ),
        (.restoreGuideOnline, "Stay online until it is done", "完成前请保持联网", "完成前請保持連線"),
        (.restoreGuideSupport, "Does it still not show? Contact support", "仍然无法恢复？请联系支持", "仍然無法恢復？請聯絡客服"),
        (.restoreGuideTitle, "How restoring works", "恢复指南", "恢復說明"),
        (
            .restoreGuideWhen,
            "Restore after you have reinstalled the app, changed your device, or when your subscription does not show",
            "重新安装 App、更换设备，或订阅状态不同步时，请使用恢复购买", "重新安裝 App、更換裝置，或訂閱狀態不同步時，請使用恢復購買"
        ),
        (.restoreNothing, "No subscription was found for this Apple Account", "未找到此 Apple 账户的订阅", "找不到此 Apple 帳號的訂閱"),
        (.restorePurchases, "Restore purchases", "恢复购买", "恢復購買"),
        (.restoring, "Restoring your purchases…", "正在恢复购买…", "正在恢復購買…"),
        (.retry, "Try again", "重试", "再試一次"),
        (.statusActive, "Active", "有效", "有效"),
        (.statusCancelled, "Cancelled, active until it ends", "已取消，到期前有效", "已取消，到期前有效"),
        (.statusExpired, "Expired", "已过期", "已過期"),
        (.statusFree, "Free", "免费", "免費"),
        (.statusTrialExpired, "Trial expired", "试用已过期", "試用已過期"),
        (.subscribe, "Subscribe", "立即订阅", "立即訂閱"),
        (.termsOfService, "Terms of service", "服务条款", "服務條款"),
        (
            .trialNotice, "Then {price}. Cancel before the trial ends and you pay nothing",
            "试用结束后{price}。试用期内可随时取消，不产生任何费用", "試用結束後{price}。試用期內可隨時取消，不會產生任何費用"
        ),
        (.trialStartDays, "Start your {count}-day free trial", "开始 {count} 天免费试用", "開始 {count} 天免費試用"),
        (.upgrade, "Upgrade", "升级", "升級"),
        (.usageOfLimit, "{used} of {limit}", "{used}/{limit}", "{used}/{limit}"),
        (.usageTitle, "Usage", "用量", "用量"),
    ]

    @Test("are in each language as they are kept here", arguments: texts)
    func kept(_ key: TextKey, _ english: String, _ simplified: String, _ traditional: String) {
        let kept = [english, simplified, traditional]
        for (language, text) in zip([ClientLanguage.english, .simplifiedChinese, .traditionalChinese], kept) {
            #expect(ClientTexts.table(of: language)[key]?.forms.last == text, "\(language)")
        }
    }

    @Test("are all here that a document's row names")
    func complete() {
        let items = DocumentTests.documents.flatMap(\.items)
        let named = Set(items.compactMap(\.here).filter { $0.hasPrefix("TextKey.") })
        let kept = Set(Self.texts.map { "TextKey.\($0.0)" })
        #expect(named.count > 10 && named.isSubset(of: kept), "\(named.subtracting(kept))")
    }
}
