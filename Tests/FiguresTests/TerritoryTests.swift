import Figures
import Testing

@Suite("Storefronts have two letters in reports and three in transactions")
struct TerritoryTests {
    @Test(
        "Both codes stand for one country, also where they look unlike",
        arguments: [
            ("US", "USA"), ("CN", "CHN"), ("GB", "GBR"), ("DE", "DEU"), ("CH", "CHE"), ("UA", "UKR"), ("KR", "KOR"),
            ("XK", "XKS"), ("MO", "MAC"), ("PL", "POL"),
        ])
    func codes(two: String, three: String) {
        #expect(Territory(alpha2: two)?.alpha3 == three)
    }

    @Test("What is no country is none", arguments: ["", "UK", "EU", "us", "USA", "ZZ"])
    func none(text: String) {
        #expect(Territory(alpha2: text) == nil)
    }

    @Test("There are the 249 of ISO 3166-1, and Kosovo")
    func count() {
        let letters = (UInt8(ascii: "A")...UInt8(ascii: "Z")).map { String(UnicodeScalar($0)) }
        let codes = letters.flatMap { first in letters.map { first + $0 } }
        #expect(codes.count { Territory(alpha2: $0) != nil } == 250)
    }
}
