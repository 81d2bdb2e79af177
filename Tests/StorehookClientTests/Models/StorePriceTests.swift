import Foundation
import Testing

@testable import StorehookClient

@Suite("A price in the currency of the customer's storefront")
struct StorePriceTests {
    private func product() throws -> CatalogProduct {
        let text = #"""
            {
                "id": "pro", "productId": "pro.monthly", "bundleId": "com.example", "name": "Pro", "tier": "pro",
                "tierName": "Pro", "period": "month", "price": 9990, "currency": "USD", "displayPrice": "$9.99",
                "displayPricePerDay": "$0.33", "features": [], "isPopular": false, "sortOrder": 0,
                "introductory": {
                    "type": "pay_up_front", "duration": "P3M", "displayDuration": "3 months", "displayPrice": "$4.99",
                    "eligible": true
                }
            }
            """#
        return try ServerDates.decoder.decode(CatalogProduct.self, from: Data(text.utf8))
    }

    private func offer(_ price: Decimal, _ displayPrice: String, _ currency: String?) throws -> PaywallOffer {
        PaywallOffer(
            try product(),
            StoreProduct(
                id: "pro.monthly", displayName: "Pro", price: price, displayPrice: displayPrice, currency: currency))
    }

    @Test("is divided in that currency, and not at all where the store does not say which")
    func perDay() throws {
        let texts = ClientTexts(.english)
        #expect(PaywallOffer(try product(), nil).pricePerDayText(texts) == "$0.33")
        #expect(try offer(3000, "¥3,000", "JPY").pricePerDayText(texts) == "¥100")
        #expect(try offer(3000, "¥3,000", nil).pricePerDayText(texts) == nil)
        #expect(try offer(6, "$6.00", "USD").pricePerDayText(texts) == "$0.20")
    }

    @Test("stands beside no introductory price of another storefront")
    func introduction() throws {
        #expect(try offer(6, "$6.00", "USD").introduction == .payUpFront(price: "$4.99", duration: "3 months"))
        #expect(try offer(3000, "¥3,000", "JPY").introduction == nil)
        #expect(PaywallOffer(try product(), nil).introduction != nil)
    }
}
