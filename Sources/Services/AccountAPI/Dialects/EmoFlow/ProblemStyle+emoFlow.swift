package import APIKit
import AppStoreServerAPI
import AppStoreVerification
import Base
import HTTPTypes

extension ProblemStyle {
    /// As EmoFlow's apps know it: `{"detail": …}`, in Chinese. The status is that of the problem.
    ///
    /// A rejection of a receipt by Apple's signature or verifyReceipt is answered as `Apple 验证失败: ` with a text of that
    /// dialect's table (``EmoFlowReceiptStatus``).
    package static let emoFlow = ProblemStyle(content: ("application/json", emoFlowSchema)) { problem, _ in
        APIAnswer(
            problem.code.status, ["detail": .string(emoFlowDetail(of: problem.code))], headers: problem.headers,
            log: problem.log)
    }

    private static let emoFlowSchema = ValueSchema.named("EmoFlowProblem", .object([.required("detail", .text)]))

    /// The text of a problem, by its code where that says more than its status.
    static func emoFlowDetail(of code: ProblemCode) -> String {
        if let known = VerificationCode(rawValue: code.code) { return EmoFlowReceiptStatus(known).detail }
        if let text = emoFlowTexts[code.code] { return text }
        if let status = ReceiptStatus.known.first(where: { $0.name == code.code }),
            let told = EmoFlowReceiptStatus(rawValue: Int(status.rawValue))
        {
            return told.detail
        }
        if let number = Int(code.code.drop { !$0.isNumber }), let status = EmoFlowReceiptStatus(rawValue: number) {
            return status.detail
        }
        switch code.status.code {
        case 401: return "用户未认证"
        case 403: return "没有权限"
        case 404: return "用户不存在"
        case 409: return "该订阅已绑定到其他账号"
        case 413: return "请求内容过大"
        case 429: return "请求过于频繁，请稍后重试"
        case 503: return "服务暂时不可用，请稍后重试"
        case 500...599: return "服务器内部错误"
        default: return "请求参数错误"
        }
    }

    /// Texts of the documents where the status alone does not say enough.
    private static let emoFlowTexts = [
        "unknown_product": "无效的产品 ID",
        "other_account": "交易不属于当前用户",
        "bound_elsewhere": "该订阅已绑定到其他账号",
        "not_found": "接口不存在",
        "write_budget": "今日提交的数据过多，请明天再试",
        "nothing_bought": "收据中没有购买记录",
        "receipt_unproven": EmoFlowReceiptStatus.notAuthentic.detail,
        "apple_unavailable": EmoFlowReceiptStatus.away.detail,
    ]
}
