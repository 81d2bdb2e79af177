import Accounts
import AppStorePayloads
import AppStoreVerification
import Base
import HTTPTypes
import Testing

@testable import APIKit
@testable import AccountAPI

@Suite("The EmoFlow dialect")
struct EmoFlowTests {
    private static let reader = Reader(Views.yourApp)

    @Test("answers the document's examples byte for byte, but for their white space")
    func examples() throws {
        let account = Views.account(Views.monthly(until: try Views.time("2024-02-01T00:00:00Z")))
        // 1. 验证订阅收据
        #expect(
            text(EmoFlowAnswers.verify.value(of: account, for: Self.reader))
                == compact(
                    """
                    {
                      "status": "success",
                      "message": "订阅验证成功",
                      "subscription": {
                      "status": "active",
                      "product_id": "com.yourapp.monthly",
                      "expires_at": "2024-02-01T00:00:00Z",
                      "auto_renew": true,
                      "environment": "sandbox",
                      "is_member": true
                      }
                    }
                    """))
        // 2. 查询订阅状态
        #expect(
            text(EmoFlowAnswers.status.value(of: account, for: Self.reader))
                == compact(
                    """
                    {
                      "status": "success",
                      "subscription": {
                      "subscription_status": "active",
                      "subscription_product_id": "com.yourapp.monthly",
                      "subscription_expires_at": "2024-02-01T00:00:00Z",
                      "auto_renew_status": true,
                      "subscription_environment": "sandbox",
                      "is_member": true
                      }
                    }
                    """))
        // 3. 刷新订阅状态
        #expect(
            text(EmoFlowAnswers.refresh.value(of: account, for: Self.reader))
                == compact(
                    """
                    {
                      "status": "success",
                      "message": "订阅状态刷新成功",
                      "subscription": {
                      "status": "active",
                      "product_id": "com.yourapp.monthly",
                      "expires_at": "2024-02-01T00:00:00Z",
                      "auto_renew": true,
                      "environment": "sandbox",
                      "is_member": true
                      }
                    }
                    """))
        // 5. 恢复订阅购买
        let restored = Views.account(Views.monthly(until: try Views.time("2024-02-15T10:30:00Z")))
        #expect(
            text(EmoFlowAnswers.restore.value(of: restored, for: Self.reader))
                == compact(
                    """
                    {
                      "status": "success",
                      "message": "恢复购买成功",
                      "subscription": {
                      "status": "active",
                      "expires_at": "2024-02-15T10:30:00Z",
                      "product_id": "monthly",
                      "auto_renew": true,
                      "environment": "sandbox",
                      "is_member": true
                      }
                    }
                    """))
    }

    @Test("lists the document's products byte for byte, prices a day among them")
    func products() {
        #expect(
            text(
                EmoFlowAnswers.products.value(
                    of: Views.emoFlow.productsToShow(), for: Reader(Views.emoFlow, languages: ["en"])))
                == compact(
                    """
                    {
                      "status": "success",
                      "message": "获取产品列表成功",
                      "products": [
                      {
                      "id": "monthly",
                      "name": "包月",
                      "price": "¥12",
                      "daily_price": "仅需¥0.40/天",
                      "period": "monthly",
                      "period_display": "每月",
                      "apple_product_id": "com.yztao92.EmoFlow.subscription.monthly",
                      "is_popular": false,
                      "sort_order": 1
                      },
                      {
                      "id": "yearly",
                      "name": "包年",
                      "price": "¥98.00",
                      "daily_price": "仅需¥0.27/天",
                      "period": "yearly",
                      "period_display": "每年",
                      "apple_product_id": "com.yztao92.EmoFlow.subscription.yearly",
                      "is_popular": true,
                      "sort_order": 2
                      }
                      ]
                    }
                    """))
    }

    @Test(
        "has four statuses, and is_member is access",
        arguments: [
            (.active, "active", true), (.trial, "active", true), (.gracePeriod, "active", true),
            (.cancelled, "cancelled", true), (.free, "inactive", false), (.expired, "expired", false),
            (.trialExpired, "expired", false), (.revoked, "expired", false),
        ] as [(AccountStatus, String, Bool)])
    func statuses(status: AccountStatus, expected: String, isMember: Bool) throws {
        let account = Views.account(nil, status: status)
        let subscription = try #require(EmoFlowAnswers.status.value(of: account, for: Self.reader)["subscription"])
        #expect(subscription["subscription_status"] == .string(expected))
        #expect(subscription["is_member"] == .bool(isMember))
        #expect(try fault(EmoFlowAnswers.status, account, Self.reader) == nil)
    }

    @Test(
        "says null and false where there is nothing to tell, and does not tell a purchase that does not give the status"
    )
    func nothing() {
        #expect(
            text(EmoFlowAnswers.status.value(of: Views.account(nil), for: Self.reader))
                == compact(
                    """
                    {"status": "success", "subscription": {"subscription_status": "inactive",
                    "subscription_product_id": null, "subscription_expires_at": null, "auto_renew_status": false,
                    "subscription_environment": "production", "is_member": false}}
                    """))
        var granted = Views.account(Views.monthly(until: Views.now, status: .expired, willRenew: false))
        granted.environment = "Production"
        granted.state = .always(
            AccountPhase(
                startsAt: .distantPast, status: .active, tier: "pro", source: .grant,
                expiresAt: Views.now.adding(days: 1)))
        let told = EmoFlowAnswers.verify.value(of: granted, for: Self.reader)["subscription"]
        #expect(told?["product_id"] == .null && told?["environment"] == "production")
        #expect(told?["expires_at"] == "2024-01-11T00:00:00Z" && told?["status"] == "active")
    }

    @Test("tells what Apple's verification says in the document's words")
    func refusals() {
        // The document's own example of an error.
        let malformed = APIProblem(ProblemCode(.badRequest, "malformed", "x"), "never shown")
        let answer = ProblemStyle.emoFlow.answer(malformed) { .english }
        #expect(answer.status == .badRequest && answer.contentType == "application/json")
        #expect(
            String(decoding: answer.body ?? [], as: UTF8.self)
                == compact(
                    """
                    {
                      "detail": "Apple 验证失败: 收据数据格式错误"
                    }
                    """))
        let table = [
            21000: "App Store 无法读取收据数据", 21002: "收据数据格式错误", 21003: "收据验证失败",
            21004: "共享密钥不匹配", 21005: "收据服务器暂时不可用", 21006: "收据有效但订阅已过期",
            21007: "收据是沙盒收据，但发送到了生产环境", 21008: "收据是生产收据，但发送到了沙盒环境",
            21010: "收据无法被授权",
        ]
        #expect(EmoFlowReceiptStatus.allCases.map(\.rawValue).sorted() == table.keys.sorted())
        for status in EmoFlowReceiptStatus.allCases { #expect(table[status.rawValue] == status.text) }
        #expect(
            ProblemStyle.emoFlowDetail(of: ProblemCode(.badRequest, "verify_receipt_21004", "x"))
                == "Apple 验证失败: 共享密钥不匹配")
    }

    @Test("has a Chinese detail for every problem, those of the document exactly")
    func problems() {
        let known: [(ProblemCode, String)] = [
            (.invalidRequest, "请求参数错误"), (.tokenMissing, "用户未认证"), (.tokenInvalid, "用户未认证"),
            (.tokenExpired, "用户未认证"), (.internalError, "服务器内部错误"),
            (ProblemCode(.notFound, "account_unknown", "x"), "用户不存在"),
            (ProblemCode(.badRequest, "unknown_product", "x"), "无效的产品 ID"),
            (ProblemCode(.forbidden, "other_account", "x"), "交易不属于当前用户"),
        ]
        for (code, expected) in known { #expect(ProblemStyle.emoFlowDetail(of: code) == expected, "\(code.code)") }
        let all =
            [ProblemCode.tooLarge, .rateLimited, .unavailable, .serverKeyRequired, .methodNotAllowed, .notFound]
            + VerificationCode.allCases.map { ProblemCode(.badRequest, $0.rawValue, "x") }
        for code in all {
            let detail = ProblemStyle.emoFlowDetail(of: code)
            #expect(detail.unicodeScalars.contains { $0.value > 0x4E00 }, "\(code.code)")
        }
    }
}
