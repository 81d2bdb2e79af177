import Simulation

/// Signed notifications with all the fields that Apple's carry for a subscription, and about as long.
struct SubscriptionSample {
    static let bundleId = "com.example.measured-application"
    static let appAppleId: Int64 = 1_234_567_890

    let authority: SimulatedAuthority

    init() throws { authority = try SimulatedAuthority.generate() }

    /// A renewal; the number makes it another one.
    func notification(number: Int) -> [UInt8] {
        let signed: Int64 = 1_767_323_045_678 + Int64(number) * 1000
        let purchase = signed - 30_000
        let expiry = purchase + 2_592_000_000
        let line = 2_000_000_900_000_000 + number
        let transaction = """
            {"transactionId":"\(line + 1_000_000)","originalTransactionId":"\(line)",\
            "webOrderLineItemId":"\(line + 2_000_000)","bundleId":"\(Self.bundleId)",\
            "productId":"com.example.measured.monthly","subscriptionGroupIdentifier":"21752814",\
            "purchaseDate":\(purchase),"originalPurchaseDate":\(purchase - 2_592_000_000),"expiresDate":\(expiry),\
            "quantity":1,"type":"Auto-Renewable Subscription","appAccountToken":"\(token(number))",\
            "inAppOwnershipType":"PURCHASED","signedDate":\(signed),"offerType":2,\
            "offerIdentifier":"spring-2026","offerDiscountType":"PAY_AS_YOU_GO","offerPeriod":"P1M",\
            "environment":"Production","transactionReason":"RENEWAL","storefront":"USA","storefrontId":"143441",\
            "price":9990,"currency":"USD","appTransactionId":"\(700_000_000_000_000_000 + number)"}
            """
        let renewal = """
            {"originalTransactionId":"\(line)","autoRenewProductId":"com.example.measured.monthly",\
            "productId":"com.example.measured.monthly","autoRenewStatus":1,"renewalPrice":9990,"currency":"USD",\
            "signedDate":\(signed),"environment":"Production","recentSubscriptionStartDate":\(purchase),\
            "renewalDate":\(expiry),"appAccountToken":"\(token(number))",\
            "appTransactionId":"\(700_000_000_000_000_000 + number)"}
            """
        let notification = """
            {"notificationType":"DID_RENEW","notificationUUID":"\(token(number + 1_000_000))",\
            "data":{"appAppleId":\(Self.appAppleId),"bundleId":"\(Self.bundleId)","bundleVersion":"637",\
            "environment":"Production","signedTransactionInfo":"\(authority.sign(transaction))",\
            "signedRenewalInfo":"\(authority.sign(renewal))","status":1},"version":"2.0","signedDate":\(signed)}
            """
        return Array(authority.sign(notification).utf8)
    }

    private func token(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "7f1de78e-0d4e-4c5e-9d3c-" + String(repeating: "0", count: max(0, 12 - digits.count)) + digits
    }
}
