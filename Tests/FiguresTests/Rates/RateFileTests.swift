import Base
import Figures
import Testing

@Suite("A file of rates")
struct RateFileTests {
    private let own = "date,currency,rate\n2026-03-02,USD,1.0823\n2026-03-02,CNY,7.8412\n2026-03-03,USD,1.0811\n"

    // The form of the bank's eurofxref-hist.xml and eurofxref-hist.csv; the numbers are made up.
    private let xml = """
        <?xml version="1.0" encoding="UTF-8"?>
        <gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
        \t<gesmes:subject>Reference rates</gesmes:subject>
        \t<gesmes:Sender>
        \t\t<gesmes:name>European Central Bank &amp; others</gesmes:name>
        \t</gesmes:Sender>
        \t<Cube>
        \t\t<Cube time="2026-03-03">
        \t\t\t<Cube currency="USD" rate="1.0811"/></Cube>
        \t\t<Cube time='2026-03-02'><Cube currency='USD' rate='1.0823'></Cube>
        \t\t\t<!-- <Cube currency="XXX" rate="0"/> -->
        \t\t\t<Cube
        \t\t\t\trate = "7.8412" currency="CNY" />
        \t\t</Cube>
        \t</Cube>
        </gesmes:Envelope>
        <!-- served on 2026-03-03 -->

        """

    private func rates(_ lines: String...) throws -> [ExchangeRate] {
        try lines.map { line in
            let parts = line.split(separator: " ")
            return ExchangeRate(
                day: try day(String(parts[0])), currency: String(parts[1]), rate: try EuroRate(parts[2]))
        }
    }

    @Test("of the operator's has a line for each rate, the oldest or the newest day first")
    func ownForm() throws {
        let expected = try rates("2026-03-02 USD 1.0823", "2026-03-02 CNY 7.8412", "2026-03-03 USD 1.0811")
        #expect(try readRates(own) == expected)
        #expect(try readRates("\u{FEFF}" + own.replacing("\n", with: "\r\n")) == expected)
        #expect(try readRates(own + "\n\n") == expected)
        #expect(try readRates(String(own.dropLast())) == expected)
        let falling = "date,currency,rate\n2026-03-03,USD,1.0811\n2026-03-02,USD,1.0823\n2026-01-01,TRL,1700000\n"
        #expect(
            try readRates(falling)
                == rates("2026-03-03 USD 1.0811", "2026-03-02 USD 1.0823", "2026-01-01 TRL 1700000"))
    }

    @Test("of the bank's in XML has a cube for each day")
    func bankXML() throws {
        #expect(
            try readRates(xml) == rates("2026-03-03 USD 1.0811", "2026-03-02 USD 1.0823", "2026-03-02 CNY 7.8412"))
        #expect(try readRates("\u{FEFF}" + xml.replacing("\n", with: "\r\n")).count == 3)
    }

    @Test("of the bank's with commas has a line for each day, and N/A where a currency has no rate")
    func bankCSV() throws {
        let text =
            "Date,USD,CYP,CNY,\n2026-03-03,1.0811,N/A,7.84,\n2026-03-02,1.0823,0.58,N/A,\n2026-02-27,N/A,N/A,N/A,\n"
        let expected = try rates(
            "2026-03-03 USD 1.0811", "2026-03-03 CNY 7.84", "2026-03-02 USD 1.0823", "2026-03-02 CYP 0.58")
        #expect(try readRates(text) == expected)
        #expect(try readRates(text.replacing(",\n", with: "\n")) == expected)
    }

    @Test("says the same in each of its forms")
    func forms() throws {
        let wide = "Date,USD,CNY\n2026-03-02,1.0823,7.8412\n2026-03-03,1.0811,N/A\n"
        let tables = try [own, wide, xml].map { Set(try readRates($0)) }
        #expect(tables[0] == tables[1] && tables[1] == tables[2])
    }
}

/// Reads a file as it would be read on 2026-03-31.
func readRates(_ text: String) throws -> [ExchangeRate] {
    try RateFile(Array(text.utf8), through: day("2026-03-31")).rates
}

/// What is wrong with a file that is read on 2026-03-31.
func rateFaults(_ text: String) throws -> [String] {
    do {
        _ = try RateFile(Array(text.utf8), through: try day("2026-03-31"))
        return []
    } catch let fault as RateFileFault {
        return fault.findings.map(\.description)
    }
}
