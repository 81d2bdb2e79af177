import Base
import Figures
import Testing

@Suite("A Financial Report is read by the names of its columns")
struct FinancialReportTests {
    private static func report(_ text: String) throws -> FinancialReport {
        guard case .financial(let report) = try AppleReport(Array(text.utf8)) else {
            throw ReportRefusal([ReportFault(line: nil, "it is read as another report")])
        }
        return report
    }

    private static func row(
        _ sku: String, _ quantity: String, _ kind: String, price: String, share: String, country: String = "DE",
        type: String = "IAY"
    ) -> [String: String] {
        [
            "Start Date": "09/28/2025", "End Date": "11/01/2025", "Transaction Date": "10/02/2025", "SKU": sku,
            "Vendor Identifier": sku, "Quantity": quantity, "Partner Share": "0.01", "Extended Partner Share": share,
            "Partner Share Currency": "EUR", "Sale or Return": kind, "Product Type Identifier": type,
            "Country of Sale": country, "Customer Price": price, "Customer Currency": "EUR",
        ]
    }

    private static let rows = [
        row("com.example.month", "3", "S", price: "4.99", share: "10.69"),
        row("com.example.month", "2", "S", price: "4.99", share: "7.12"),
        row("com.example.month", "-1", "R", price: "-4.99", share: "-3.56"),
        row("com.example.month", "1", "R", price: "4.99", share: "3.56", country: "AT"),
        row("com.example.month", "0", "S", price: "4.99", share: "0"),
        row("AppOne", "9", "S", price: "0.99", share: "6.3", type: "1F"),
    ]

    private static let totals: [ReportKey: ReportTotals] = [
        ReportKey("com.example.month", "DEU", "EUR", 4990):
            ReportTotals(units: 5, amount: 24_950, proceeds: ["EUR": 17_810]),
        ReportKey("com.example.month", "DEU", "EUR", 4990, .refund):
            ReportTotals(units: 1, amount: 4990, proceeds: ["EUR": 3560]),
        ReportKey("com.example.month", "AUT", "EUR", 4990, .refund):
            ReportTotals(units: 1, amount: 4990, proceeds: ["EUR": 3560]),
    ]

    @Test("Units and Partner Share add up; the rows end with their number, which is checked")
    func plain() throws {
        let text = ReportFixture.text(ReportFixture.financialColumns, Self.rows)
        let report = try Self.report(text + "Total_Rows\t6\nTotal_Amount\t14.25\nanything\tafter\tit\n")
        #expect(report.totals == Self.totals)
        #expect(report.otherRows == 1)
        #expect(report.rowsWithoutAmount == 1)
        #expect(report.days?.lowerBound.description == "2025-09-28")
        #expect(report.days?.upperBound.description == "2025-11-01")
        #expect(
            ReportFixture.faults(text + "Total_Rows\t7\n") == [
                "line 8: Total_Rows is \"7\", and 6 rows are above: the file is cut off; download it again"
            ])
    }

    @Test("A detailed one has its dates above the columns, and the countries' sums below the rows")
    func detailed() throws {
        let dates = "Vendor Name\tExample\nStart Date\t09/28/2025\nEnd Date\t11/01/2025\n"
        let rows = ReportFixture.text(ReportFixture.detailedColumns, Self.rows)
        let sums = "\nCountry Of Sale\tPartner Share Currency\tQuantity\tExtended Partner Share\nDE\tEUR\t4\t14.25\n"
        let report = try Self.report(dates + rows + sums)
        #expect(report.totals == Self.totals)
        #expect(report.days?.lowerBound.description == "2025-09-28")
        #expect(
            ReportFixture.faults(rows) == [
                "there is no Start Date: neither a column nor a line above the columns, like 03/31/2026"
            ])
        #expect(
            ReportFixture.faults("Start Date\t11/02/2025\nEnd Date\t11/01/2025\n" + rows)
                == ["Start Date 2025-11-02 is after End Date 2025-11-01"])
    }

    @Test("Both names that files have for a column are understood")
    func aliases() throws {
        let names = [
            "Sale or Return": "Sales or Return", "Country of Sale": "Country Of Sale", "ISRC / ISBN": "ISRC/ISBN",
            "Artist / Show / Developer / Author": "Artist/Show/Developer/Author",
        ]
        let columns = ReportFixture.financialColumns.map { names[$0] ?? $0 }
        let rows = Self.rows.map { row in
            Dictionary(uniqueKeysWithValues: row.map { (names[$0] ?? $0, $1) })
        }
        #expect(try Self.report(ReportFixture.text(columns, rows)).totals == Self.totals)
    }

    @Test("Every wrong value is named with its line")
    func faults() {
        let wrong = [
            Self.row("p", "1", "X", price: "4.99", share: "3"), Self.row("p", "1", "S", price: "4.99", share: "three"),
            Self.row("p", "one", "S", price: "4.99", share: "3"),
            Self.row("p", "1", "S", price: "4.99", share: "3").merging(["Start Date": "10/01/2025"]) { $1 },
        ]
        #expect(
            ReportFixture.faults(ReportFixture.text(ReportFixture.financialColumns, wrong)) == [
                "line 2: Sale or Return is S or R, and not \"X\"",
                "line 3: Extended Partner Share is an amount with at most three decimals, like 4.99, and not \"three\"",
                "line 4: Quantity is a whole number, like 12 or -3, and not \"one\"",
                "line 5: it is of another period than the rows before it; compare one report after the other",
            ])
    }
}
