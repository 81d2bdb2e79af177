import Accounts
import Testing

@Suite("The price of a day")
struct PriceTests {
    private func product(_ price: Int64?, _ period: Catalog.Period, lasts: Int? = nil) -> Catalog.Product {
        Catalog.Product(
            id: "p", productID: "p", bundleID: "a", tier: "pro", price: price, currency: "CNY", period: period,
            lasts: lasts)
    }

    @Test("is the price divided by the period's days, rounded half up to a hundredth of the currency")
    func rounded() {
        #expect(product(12_000, .month).pricePerDay() == 400)
        #expect(product(98_000, .year).pricePerDay() == 270)
        #expect(product(7_000, .week).pricePerDay() == 1000)
        #expect(product(6_000, .twoMonths).pricePerDay() == 100)
        #expect(product(9_100, .quarter).pricePerDay() == 100)
        #expect(product(18_200, .halfYear).pricePerDay() == 100)
        #expect(product(150, .term, lasts: 10).pricePerDay() == 20)
        #expect(product(149, .term, lasts: 10).pricePerDay() == 10)
        #expect(product(0, .month).pricePerDay() == 0)
        #expect(product(999_999_999_999, .week).pricePerDay() == 142_857_142_860)
    }

    @Test("is not there where nothing is said of the price or nothing ends")
    func none() {
        #expect(product(nil, .month).pricePerDay() == nil)
        #expect(product(98_000, .lifetime).pricePerDay() == nil)
        #expect(product(98_000, .term).pricePerDay() == nil)
    }
}
