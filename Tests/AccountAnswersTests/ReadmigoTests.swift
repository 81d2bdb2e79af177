import Accounts
import Base
import Subscriptions
import Testing

@testable import APIKit
@testable import AccountAPI

@Suite("The Readmigo dialect")
struct ReadmigoTests {
    private static let reader = Reader(Views.reading)
    private static let words: Set<String> = [
        "ACTIVE", "EXPIRED", "CANCELLED", "GRACE_PERIOD", "TRIAL", "TRIAL_EXPIRED", "FREE", "REVOKED",
    ]

    private func subscriber(_ status: AccountStatus, days: Int64 = 30) -> AccountView {
        var purchase = Views.purchase(
            "com.readmigo.pro.yearly", of: "com.readmigo", "1000000123456780", in: "Production",
            until: Views.now.adding(days: days), status: status, willRenew: status == .active)
        purchase.hasEndedAsTrial = status == .trialExpired
        purchase.transactionID = "1000000123456789"
        return Views.account(purchase, status: status)
    }

    @Test(
        "says each status and each source in the document's words, wherever an answer has one",
        arguments: AccountStatus.allCases)
    func statuses(_ status: AccountStatus) throws {
        let account = subscriber(status)
        let word = JSONValue.string(status.rawValue.uppercased())
        let value = ReadmigoAnswers.status.value(of: account, for: Self.reader)
        #expect(value["status"] == word && Self.words.contains(status.rawValue.uppercased()))
        #expect(value["source"] == "APPLE_IAP" && value["planType"] == (status.access ? "PRO" : "FREE"))
        // A purchase is never free.
        let purchase: JSONValue = status == .free ? "EXPIRED" : word
        #expect(value["subscription"]?["status"] == purchase && value["subscription"]?["source"] == "APPLE_IAP")
        #expect(value["subscription"]?["planType"] == "PRO")
        guard case .array(let all)? = value["subscriptions"] else {
            Issue.record("subscriptions are no list")
            return
        }
        #expect(all.map { $0["status"] } == [purchase])
        #expect(value["purchaseType"] == (status.access ? "annual" : "none"))
        #expect(value["subscription"]?["purchaseType"] == "annual")
        #expect(value["originalTransactionId"] == "1000000123456780" && value["transactionId"] == "1000000123456789")
        #expect(try fault(ReadmigoAnswers.status, account, Self.reader) == nil)

        let proven = VerifyAnswer(account.subscription, of: account)
        let verified = ReadmigoAnswers.verify.value(of: proven, for: Self.reader)
        #expect(verified["success"] == true && verified["subscription"]?["status"] == purchase)
        #expect(verified["account"]?["status"] == word && verified["account"]?["source"] == "APPLE_IAP")
        #expect(try fault(ReadmigoAnswers.verify, proven, Self.reader) == nil)
        let restoring = RestoreAnswer([.init(.restored, originalTransactionID: "1000000123456780")], of: account)
        let restored = ReadmigoAnswers.restore.value(of: restoring, for: Self.reader)
        #expect(restored["status"] == word && restored["subscription"]?["status"] == purchase)
        #expect(restored["account"]?["status"] == word && restored["restored"] == 1)
        #expect(try fault(ReadmigoAnswers.restore, restoring, Self.reader) == nil)
        let trial = ReadmigoAnswers.trial.value(of: account, for: Self.reader)
        #expect(trial["status"] == word && trial["planType"] == (status.access ? "PRO" : "FREE"))
        // The other surface keeps its own.
        #expect(AccountShapes.status.value(of: account, for: Self.reader)["status"] == .string(status.rawValue))
    }

    @Test("has a word for each source, and says EXPIRED where the charge failed and the grace period is over")
    func others() {
        #expect(AccountSource.allCases.map(ReadmigoWords.source) == ["APPLE_IAP", "PROMO_CODE", "TRIAL", "NONE"])
        #expect(Set(AccountSource.allCases.map(ReadmigoWords.source)) == Set(ReadmigoWords.sources))
        #expect(Set(PurchaseStatus.allCases.map(ReadmigoWords.status)) == Self.words.subtracting(["FREE"]))
        #expect(ReadmigoWords.status(PurchaseStatus.billingRetry) == "EXPIRED")
        let free = ReadmigoAnswers.status.value(of: Views.account(nil), for: Self.reader)
        #expect(free["status"] == "FREE" && free["source"] == "NONE" && free["planType"] == "FREE")
        #expect(free["purchaseType"] == "none" && free["subscription"] == .null && free["updatedAt"] == .null)
    }

    @Test("calls what was bought none, monthly, annual or lifetime, as the client's document does")
    func purchaseTypes() throws {
        let words = Catalog.Period.allCases.map { ReadmigoWords.purchaseType($0) }
        #expect(
            words == [
                "weekly", "monthly", "bimonthly", "quarterly", "half_yearly", "annual", "lifetime", "term",
            ])
        var unlock = Views.purchase(
            "com.readmigo.premium.lifetime", of: "com.readmigo", "5", in: "Production", until: nil, status: .active,
            willRenew: false)
        unlock.oneTime = .nonConsumable
        let both = Views.account(unlock)
        #expect(ReadmigoAnswers.status.value(of: both, for: Self.reader)["purchaseType"] == "lifetime")
        #expect(try fault(ReadmigoAnswers.status, both, Self.reader) == nil)
    }

    @Test("has the members of the other surface, in their order, and more at the end")
    func members() {
        func names(_ value: JSONValue) -> [String] {
            guard case .object(let members) = value else { return [] }
            return members.map(\.name)
        }
        let account = subscriber(.active)
        let own = names(AccountShapes.status.value(of: account, for: Self.reader))
        #expect(
            names(ReadmigoAnswers.status.value(of: account, for: Self.reader)) == own + ["originalTransactionId"])
        let used = (tier: "pro", features: [FeatureView]())
        let usage = ReadmigoAnswers.usage.value(of: used, for: Self.reader)
        #expect(names(usage) == ["tier", "usage", "planType"] && usage["planType"] == "PRO")
    }
}
