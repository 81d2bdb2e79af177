import APIKit
import AppStoreServerAPI
import AppStoreVerification

/// Sentences about what apps hand in. Those in English are often more exact: they come from what has judged it.
extension ProblemText {
    /// What a code of verification says, for a message in English that says more.
    init(_ message: String, of code: VerificationCode) { self.init(message, generally: .of(code)) }

    /// What a status of verifyReceipt says, for a message in English that says more.
    init(_ message: String, of status: ReceiptStatus) {
        let text: ProblemText =
            switch status.rawValue {
            case 21_002: ProblemText("", "收据数据格式错误", "收據資料格式錯誤")
            case 21_004: ProblemText("", "共享密钥不匹配", "共用密鑰不符")
            case 21_006: ProblemText("", "收据有效但订阅已过期", "收據有效但訂閱已過期")
            case 21_007: ProblemText("", "收据是沙盒收据，但发送到了生产环境", "收據是沙盒收據，但傳送到了正式環境")
            case 21_008: ProblemText("", "收据是生产收据，但发送到了沙盒环境", "收據是正式收據，但傳送到了沙盒環境")
            case 21_010: ProblemText("", "收据无法被授权", "收據無法獲得授權")
            default: ProblemText("", "收据验证失败", "收據驗證失敗")
            }
        self.init(message, generally: text)
    }

    /// The catalog does not have a product that a request names. In Chinese it is the sentence of the documents, which apps compare.
    static let unknownProduct = ProblemText(
        "the catalog does not have this product: name one of GET /v1/products, or have the operator add it (storehook catalog apply)",
        "无效的产品 ID", "無效的產品 ID")

    /// The catalog does not have the product of a purchase, which is proven and kept all the same.
    static let unsoldProduct = ProblemText(
        "the catalog does not have this product; the purchase is kept, and counts once the operator adds the product (storehook "
            + "catalog apply)",
        "无效的产品 ID", "無效的產品 ID")

    /// It cannot be judged now.
    static func undecided(_ english: String) -> ProblemText {
        ProblemText(english, "暂时无法判定，请稍后重新提交", "暫時無法判定，請稍後重新提交")
    }

    /// A clock is behind Apple's.
    static func clockBehind(_ english: String) -> ProblemText {
        ProblemText(
            english, "此处的时钟慢于 Apple；提交的内容已保存，请稍后重新提交", "此處的時鐘慢於 Apple；提交的內容已保存，請稍後重新提交")
    }

    private static func of(_ code: VerificationCode) -> ProblemText {
        switch code {
        case .malformed: ProblemText("", "不是有效的 JWS 或收据", "不是有效的 JWS 或收據")
        case .unsupportedAlgorithm: ProblemText("", "不支持的签名算法", "不支援的簽署演算法")
        case .wrongChainLength: ProblemText("", "证书链的长度不对", "憑證鏈的長度不對")
        case .malformedCertificate: ProblemText("", "证书格式错误", "憑證格式錯誤")
        case .untrustedRoot: ProblemText("", "不是由 Apple 的根证书签发", "不是由 Apple 的根憑證簽發")
        case .invalidChain: ProblemText("", "证书链无效", "憑證鏈無效")
        case .certificateNotValidAt: ProblemText("", "签名时证书不在有效期内", "簽署時憑證不在有效期限內")
        case .missingMarkerOID: ProblemText("", "证书缺少 Apple 的标记", "憑證缺少 Apple 的標記")
        case .invalidSignature: ProblemText("", "签名无效", "簽章無效")
        case .malformedPayload: ProblemText("", "内容格式错误", "內容格式錯誤")
        case .wrongBundle: ProblemText("", "属于另一个应用", "屬於另一個 App")
        case .wrongAppAppleId: ProblemText("", "属于另一个应用（App Apple ID 不符）", "屬於另一個 App（App Apple ID 不符）")
        case .wrongEnvironment: ProblemText("", "属于另一个环境", "屬於另一個環境")
        case .payloadTooOld: ProblemText("", "签名时间过早", "簽署時間過早")
        case .mismatchedParts: ProblemText("", "各部分不属于同一笔购买", "各部分不屬於同一筆購買")
        case .revoked: ProblemText("", "证书已被吊销", "憑證已被撤銷")
        case .signedInFuture: ProblemText("", "签名时间在将来", "簽署時間在未來")
        case .revocationUnknown: ProblemText("", "暂时无法确认证书是否被吊销，请稍后重试", "暫時無法確認憑證是否被撤銷，請稍後再試")
        }
    }
}

extension TrialEligibility.Reason {
    /// Why the trial is not started.
    var text: ProblemText {
        let english = "this account may not start the trial: \(rawValue)"
        return switch self {
        case .notOffered: ProblemText(english, "目前没有提供试用", "目前沒有提供試用")
        case .used: ProblemText(english, "此账号已使用过试用", "此帳號已使用過試用")
        case .subscribed: ProblemText(english, "此账号有有效的付费订阅，不能开始试用", "此帳號有有效的付費訂閱，不能開始試用")
        case .paidBefore: ProblemText(english, "此账号曾经付费，不能开始试用", "此帳號曾經付費，不能開始試用")
        case .usedOnDevice: ProblemText(english, "此设备已在其他账号下使用过试用", "此裝置已在其他帳號下使用過試用")
        }
    }
}
