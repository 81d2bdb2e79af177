import Base
import Figures
import Foundation
import TestSupport
import Testing

@Suite("A Summary Sales Report is read by the names of its columns")
struct SalesReportTests {
    private static func report(_ text: String) throws -> SalesReport {
        guard case .sales(let report) = try AppleReport(Array(text.utf8)) else {
            throw ReportRefusal([ReportFault(line: nil, "it is read as another report")])
        }
        return report
    }

    /// The rows of Apple's sample: apps, purchases in them, and refunds with negative units and a negative price.
    private static let rows = [
        ReportFixture.sale("AppOne", "1F", units: "100", price: ".99", "USD", "US"),
        ReportFixture.sale("in.app.one", "IA1", units: "50", price: ".69", "GBP", "GB"),
        ReportFixture.sale("com.example.month", "IAY", units: "3", price: "4.99", "USD", "US"),
        ReportFixture.sale("com.example.month", "IAY", units: "2.00", price: "4.990", "USD", "US"),
        ReportFixture.sale("com.example.month", "IAY", units: "-2", price: "-4.99", "USD", "US"),
        ReportFixture.sale("com.example.month", "IAY-M", units: "-1", price: "4.99", "USD", "US"),
        ReportFixture.sale("com.example.month", "IAY", units: "4", price: "0", "USD", "US"),
        ReportFixture.sale("com.example.month", "IAY", units: "0", price: "-1.50", "USD", "US"),
        ReportFixture.sale("com.example.month", "IAY", units: "1", price: "-1.50", "USD", "US"),
        ReportFixture.sale("in.app.one", "IA3", units: "7", price: "0", "GBP", "GB"),
        ReportFixture.sale("AppOne", "7F", units: "900", price: "0", "USD", "US"),
        ReportFixture.sale("com.example.coins", "FI1", units: "1", price: "160", "JPY", "JP"),
    ]

    private static let totals: [ReportKey: ReportTotals] = [
        // 50 × 0.69
        ReportKey("in.app.one", "GBR", "GBP", 690): ReportTotals(units: 50, amount: 34_500),
        // (3 + 2) × 4.99
        ReportKey("com.example.month", "USA", "USD", 4990): ReportTotals(units: 5, amount: 24_950),
        ReportKey("com.example.month", "USA", "USD", 4990, .refund): ReportTotals(units: 3, amount: 14_970),
        ReportKey("com.example.month", "USA", "USD", 0): ReportTotals(units: 4, amount: 0),
        ReportKey("com.example.coins", "JPN", "JPY", 160_000): ReportTotals(units: 1, amount: 160_000),
    ]

    @Test(
        "Units and units × price add up by product, storefront, currency, price and direction; apps and restored purchases are apart"
    )
    func addsUp() throws {
        let report = try Self.report(ReportFixture.text(ReportFixture.salesColumns, Self.rows))
        #expect(report.totals == Self.totals)
        #expect(report.otherRows == 3)
        #expect(report.rowsWithoutAmount == 2)
        #expect(report.days?.lowerBound.description == "2026-03-01")
        #expect(report.days?.upperBound.description == "2026-03-31")
    }

    @Test(
        "Further columns, missing ones that are not needed, another order, capitals, CRLF and a byte order mark change nothing"
    )
    func columns() throws {
        let needed = [
            "Customer Price", "SKU", "UNITS", "product type identifier", "End Date", "Begin Date", "Country Code",
            "Customer Currency",
        ]
        let rows = Self.rows.map { row in
            row.merging([
                "UNITS": row["Units"] ?? "", "product type identifier": row["Product Type Identifier"] ?? "",
            ]) { $1 }
        }
        #expect(try Self.report("\u{FEFF}" + ReportFixture.text(needed, rows, end: "\r\n")).totals == Self.totals)
        let more = ReportFixture.salesColumns + ["A Column of Tomorrow"]
        #expect(try Self.report(ReportFixture.text(more, Self.rows)).totals == Self.totals)
    }

    @Test("A report without rows has none, and no days")
    func empty() throws {
        let report = try Self.report(ReportFixture.text(ReportFixture.salesColumns, []))
        #expect(report.totals.isEmpty)
        #expect(report.days == nil)
    }

    @Test("Every wrong value is named with its line, and the good rows beside it are not used")
    func faults() {
        func wrong(_ changes: [String: String]) -> [String: String] {
            ReportFixture.sale("p", "IAY", units: "1", price: "4.99", "USD", "US").merging(changes) { $1 }
        }
        let faults = ReportFixture.faults(
            ReportFixture.text(
                ReportFixture.salesColumns,
                [
                    wrong([:]), wrong(["Units": "1.5"]), wrong(["Customer Price": "4,99"]),
                    wrong(["Customer Price": "4.9999"]), wrong(["Customer Currency": "Dollar"]),
                    wrong(["Country Code": "UK"]), wrong(["SKU": " "]), wrong(["Begin Date": "2026-03-01"]),
                    wrong(["End Date": "04/30/2026"]), wrong(["Begin Date": "04/01/2026"]),
                    wrong(["Title": "a\tb"]), wrong(["Units": "9223372036854775807", "Customer Price": "2"]),
                    wrong(["Units": "99999999999999999999"]),
                ]))
        #expect(
            faults == [
                "line 3: Units is a whole number, like 12 or -3, and not \"1.5\"",
                "line 4: Customer Price is an amount with at most three decimals, like 4.99, and not \"4,99\"",
                "line 5: Customer Price is an amount with at most three decimals, like 4.99, and not \"4.9999\"",
                "line 6: Customer Currency is a currency in three capital letters, like USD, and not \"Dollar\"",
                "line 7: Country Code is a country in two capital letters, like US, and not \"UK\"",
                "line 8: SKU is the id of a product, and not \"\"",
                "line 9: Begin Date is a day, like 03/31/2026, and not \"2026-03-01\"",
                "line 10: it is of another period than the rows before it; compare one report after the other",
                "line 11: Begin Date 2026-04-01 is after End Date 2026-03-31",
                "line 12: it has 29 values, and the report has 28 columns: a value has a tab in it, or the line is cut off",
                "line 13: its amount is more than can be counted",
                "line 14: Units is a whole number, like 12 or -3, and not \"99999999999999999999\"",
            ])
    }

    @Test("A file that ends within a line is refused: its last price might be another")
    func cutOff() {
        let text = ReportFixture.text(ReportFixture.salesColumns, Self.rows)
        let end = text.range(of: "160")?.upperBound ?? text.startIndex
        #expect(
            ReportFixture.faults(String(text[..<end]))
                == [
                    "line 13: it has 16 values, and the report has 28 columns: a value has a tab in it, or the line is cut off"
                ])
    }

    @Test("Another report is refused with the columns that it misses of either")
    func another() {
        // Apple's Subscriber report begins so.
        let subscriber = "Event Date\tApp Name\tApp Apple ID\tSubscription Name\tCustomer Price\tCustomer Currency\n"
        #expect(
            ReportFixture.faults(subscriber) == [
                "line 1: these are no columns of a Summary Sales Report, for which there are missing: SKU, Product Type Identifier, "
                    + "Units, Begin Date, End Date, Country Code; and none of a Financial Report: Vendor Identifier, "
                    + "Product Type Identifier, Quantity, Extended Partner Share, Partner Share Currency, Sale or Return, "
                    + "Country of Sale"
            ])
        #expect(ReportFixture.faults("") == ["the file is empty"])
        let noUnits = ReportFixture.salesColumns.filter { $0 != "Units" }
        #expect(
            ReportFixture.faults(ReportFixture.text(noUnits, Self.rows)).first?.contains("missing: Units; and") == true)
    }

    @Test("A stranger's file costs bounded memory: its size, its columns, and the list of its faults")
    func bounded() throws {
        let big = [UInt8](repeating: UInt8(ascii: "\n"), count: 3 << 20)
        #expect(ReportFixture.faults(big, atMost: 2 << 20) == ["the file has more than 2 MiB; a report has less"])
        #expect(
            ReportFixture.faults(String(repeating: "\t", count: 1 << 20))
                == ["line 1: it has more than 200 columns; a report has fewer"])
        let wrong = ReportFixture.sale("p", "IAY", units: "x", price: "4.99", "USD", "US")
        let faults = ReportFixture.faults(
            ReportFixture.text(ReportFixture.salesColumns, Array(repeating: wrong, count: 1000)))
        #expect(faults.count == 100)
        #expect(
            ReportFixture.faults([0x53, 0x4B, 0x55, 0xFF]) == [
                "line 1: it is not UTF-8; save the file as Apple sends it"
            ])
    }

    @Test("No damage to a file ends the process")
    func damage() throws {
        var chance = SeededGenerator()
        let file = Array(ReportFixture.text(ReportFixture.salesColumns, Self.rows).utf8)
        let compressed = try ReportFixture.gzip(file)
        let odd: [UInt8] = [0, 9, 10, 13, 32, 45, 46, 48, 57, 255]
        for round in 0..<600 {
            var bytes = round.isMultiple(of: 2) ? file : compressed
            for _ in 0..<Int.random(in: 1...8, using: &chance) {
                let place = Int.random(in: 0..<bytes.count, using: &chance)
                switch Int.random(in: 0..<3, using: &chance) {
                case 0: bytes[place] = odd.randomElement(using: &chance) ?? 0
                case 1: bytes.insert(odd.randomElement(using: &chance) ?? 0, at: place)
                default: bytes.removeSubrange(place..<min(bytes.count - 1, place + 3))
                }
            }
            // Read or refused, and what is refused has a reason.
            let faults = ReportFixture.faults(bytes)
            #expect(faults.allSatisfy { $0.utf8.count < 1000 }, "seed \(chance.seed)")
        }
    }
}
