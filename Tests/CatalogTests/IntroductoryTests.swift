import Accounts
import Base
import Testing

@Suite("An introductory offer in a catalog")
struct IntroductoryTests {
    private func catalog(_ offer: String, period: String = "month", more: String = "", head: String = "") -> String {
        """
        app: com.example.app
        \(head)
        tiers: [{id: free}, {id: pro}]
        products:
          - {id: monthly, product_id: com.example.monthly, tier: pro, period: \(period), \(more)introductory: \(offer)}
        """
    }

    @Test("has a type, a duration, and a price in the product's currency where something is paid")
    func read() throws {
        let free = try Catalog(yaml: catalog("{type: free_trial, duration: 1 week}")).products[0]
        #expect(free.introductory == .init(.freeTrial, for: .init(1, .week)) && free.currency == nil)
        let paid = try Catalog(
            yaml: catalog("{type: pay_as_you_go, duration: 3 months, price: 0.99}", head: "currency: EUR")
        ).products[0]
        #expect(paid.introductory == .init(.payAsYouGo, for: .init(3, .month), price: 990))
        // The offer has a price, and the product has none.
        #expect(paid.price == nil && paid.currency == "EUR" && paid.group == nil)
        let own = try Catalog(
            yaml: catalog(
                "{type: pay_up_front, duration: 1 year, price: 9.90}", more: "group: 21752814, currency: USD, ")
        ).products[0]
        #expect(own.introductory == .init(.payUpFront, for: .init(1, .year), price: 9900))
        #expect(own.currency == "USD" && own.group == "21752814")
        let none = Catalog.check(yaml: catalog("{type: pay_up_front, duration: 1 year, price: 9.90}"))
        #expect(
            none.catalog == nil && none.findings.map(\.message).contains { $0.hasPrefix("a price needs a currency") })
    }

    @Test("lasts so many days, weeks, months or years, as Apple writes them and as people read them")
    func durations() {
        for (text, iso, chinese) in [
            ("3 days", "P3D", "3 天"), ("1 week", "P1W", "1 周"), ("2 months", "P2M", "2 个月"), ("1 year", "P1Y", "1 年"),
            ("1 day", "P1D", "1 天"), ("999 days", "P999D", "999 天"),
        ] {
            let duration = Catalog.OfferDuration(text)
            #expect(duration?.description == text && duration?.iso8601 == iso && duration?.names[["zh"]] == chinese)
        }
        #expect(Catalog.OfferDuration("7 day")?.description == "7 days")
        for text in [
            "", "7", "days", "7days", "07 days", "+7 days", "-7 days", "7  days", "7 hours", "1000 days", "7 days ",
        ] {
            #expect(Catalog.OfferDuration(text) == nil, "\(text)")
        }
    }

    @Test("is doubted where Apple has no such thing")
    func doubts() {
        func findings(_ type: String, _ duration: String, _ period: String) -> Int {
            let price = type == "free_trial" ? "" : ", price: 1"
            return Catalog.check(
                yaml: catalog("{type: \(type), duration: \(duration)\(price)}", period: period, head: "currency: EUR")
            ).findings.count { $0.severity == .warning }
        }
        for good in ["3 days", "7 days", "1 week", "14 days", "1 month", "6 months", "12 months", "1 year"] {
            #expect(findings("free_trial", good, "year") == 0, "\(good)")
        }
        for bad in ["1 day", "10 days", "3 weeks", "4 months", "2 years"] {
            #expect(findings("free_trial", bad, "year") == 1, "\(bad)")
        }
        #expect(findings("pay_as_you_go", "3 weeks", "week") == 0 && findings("pay_as_you_go", "21 days", "week") == 0)
        #expect(
            findings("pay_as_you_go", "1 month", "week") == 1 && findings("pay_as_you_go", "1 year", "quarter") == 0)
        #expect(findings("pay_as_you_go", "4 months", "quarter") == 1)
        #expect(findings("pay_up_front", "4 months", "quarter") == 0)
    }

    @Test("changes no account")
    func change() throws {
        let with = try Catalog(yaml: catalog("{type: free_trial, duration: 1 week}"))
        let longer = try Catalog(yaml: catalog("{type: free_trial, duration: 2 weeks}"))
        #expect(with != longer && CatalogChange(from: with, to: longer).isOfNone)
    }
}
