import Base
import Figures
import Testing

@Suite("A wrong file of rates is refused whole, with line and reason:")
struct RateFileFaultTests {
    private func own(_ lines: String...) throws -> [String] {
        try rateFaults((["date,currency,rate"] + lines).map { $0 + "\n" }.joined())
    }

    @Test("a rate that is 0, negative, missing or no decimal number")
    func rates() throws {
        #expect(
            try own(
                "2026-03-02,USD,0.000", "2026-03-02,CNY,-7.8", "2026-03-02,JPY,", "2026-03-02,GBP,1e3",
                "2026-03-02,CHF,0.95")
                == [
                    "line 2: the rate of \"USD\" is 0; it is what one euro is of the currency, above 0",
                    "line 3: the rate of \"CNY\" is \"-7.8\", below 0; it is what one euro is of the currency",
                    "line 4: the rate of \"JPY\" is missing",
                    "line 5: the rate of \"GBP\" is \"1e3\", and no decimal number with at most nine digits before the point and nine "
                        + "behind, like 1.0823",
                ])
    }

    @Test("a currency that is unknown or missing, or the euro itself")
    func currencies() throws {
        #expect(
            try own("2026-03-02,USX,1", "2026-03-02,usd,1", "2026-03-02,,1", "2026-03-02,EUR,1") == [
                "line 2: \"USX\" is no currency of ISO 4217, like USD",
                "line 3: \"usd\" is no currency of ISO 4217, like USD",
                "line 4: the currency is missing", "line 5: EUR has no rate: all rates are for one euro",
            ])
    }

    @Test("a day that is missing, no day or yet to come")
    func days() throws {
        #expect(
            try own(",USD,1", "2026-02-30,USD,1", "02.03.2026,USD,1") == [
                "line 2: the day is missing", "line 3: \"2026-02-30\" is no day, like 2026-03-02",
                "line 4: \"02.03.2026\" is no day, like 2026-03-02",
            ])
        #expect(try own("2026-03-31,USD,1") == [])
        #expect(
            try own("2026-03-31,CNY,1", "2026-04-01,USD,1")
                == ["line 3: 2026-04-01 is yet to come: rates are known up to 2026-03-31"])
    }

    @Test("a currency or a day that stands twice")
    func twice() throws {
        #expect(
            try own("2026-03-02,USD,1.08", "2026-03-02,CNY,7.8", "2026-03-02,USD,1.08")
                == ["line 4: USD has a rate of that day on line 2 already"])
        #expect(try own("2026-03-02,USD,1.08", "2026-03-03,USD,1.08") == [])
        #expect(
            try own("2026-03-02,USD,1.08", "2026-03-03,USD,1.07", "2026-03-02,CNY,7.8")
                == ["line 4: 2026-03-02 stands on line 2 already: each day stands once, with all its rates"])
        #expect(
            try rateFaults("Date,USD\n2026-03-02,1.08\n2026-03-02,1.08\n")
                == ["line 3: 2026-03-02 stands on line 2 already: each day stands once, with all its rates"])
        #expect(
            try rateFaults("Date,USD,USD\n2026-03-02,1.08,1.08\n").first == "line 1: USD has two columns")
        #expect(
            try bank(
                #"<Cube time="2026-03-02"><Cube currency="USD" rate="1"/></Cube>"#,
                #"<Cube time="2026-03-02"><Cube currency="USD" rate="1"/></Cube>"#)
                == ["line 4: 2026-03-02 stands on line 3 already: each day stands once, with all its rates"])
    }

    @Test("days out of order")
    func order() throws {
        #expect(
            try own("2026-03-04,USD,1", "2026-03-03,USD,1", "2026-03-05,USD,1")
                == ["line 4: 2026-03-05 stands after 2026-03-03, out of order: the days above have the newest first"])
        #expect(
            try own("2026-03-02,USD,1", "2026-03-04,USD,1", "2026-03-03,USD,1")
                == ["line 4: 2026-03-03 stands after 2026-03-04, out of order: the days above have the oldest first"])
        // A day that is none does not hide that the one after it is out of order.
        #expect(
            try own("2026-03-02,USD,1", "2026-03-04,USD,1", "2026-03-32,USD,1", "2026-03-03,USD,1").map { $0.prefix(7) }
                == ["line 4:", "line 5:"])
    }

    @Test("working days that a file of the bank's lacks")
    func gaps() throws {
        let gap =
            "no day between 2026-03-02 and 2026-03-10 is there: the bank's file has every working day; fetch it again"
        #expect(try rateFaults("Date,USD\n2026-03-10,1\n2026-03-02,1\n") == ["line 3: \(gap)"])
        #expect(try rateFaults("Date,USD\n2026-03-02,1\n2026-03-10,1\n") == ["line 3: \(gap)"])
        #expect(
            try bank(
                #"<Cube time="2026-03-10"><Cube currency="USD" rate="1"/></Cube>"#,
                #"<Cube time="2026-03-02"><Cube currency="USD" rate="1"/></Cube>"#) == ["line 4: \(gap)"])
        #expect(try rateFaults("Date,USD\n2026-03-09,1\n2026-03-02,1\n") == [])
        // An operator may correct single days.
        #expect(try own("2026-01-02,USD,1", "2026-03-02,USD,1") == [])
    }

    @Test("lines of another length, and a file of another kind")
    func lines() throws {
        #expect(
            try own("2026-03-02,USD,1,08", "2026-03-02,USD") == [
                "line 2: it has 4 fields, and the first line has 3",
                "line 3: it has 2 fields, and the first line has 3",
            ])
        #expect(try rateFaults("Date,USD,\n2026-03-02,1.08,7\n") == ["line 2: something stands after its last comma"])
        for text in ["{}", "currency,date,rate\n", "date;currency;rate\n", "Date\n", "\0\0\0", "date,currency,rate,\n"]
        {
            #expect(try rateFaults(text).first?.hasPrefix("line 1: this is no file of rates") == true, "\(text)")
        }
        for text in ["", "date,currency,rate\n", "Date,USD\n", "Date,USD\n2026-03-02,N/A\n"] {
            #expect(try rateFaults(text) == ["it has no rates"], "\(text)")
        }
        #expect(
            try rateFaults("Date,USD,XYZ\n2026-03-02,1.08,x\n") == [
                "line 1: \"XYZ\" is no currency of ISO 4217, like USD", "line 1: without its columns it cannot be read",
            ])
    }

    @Test("all its faults at once, at most a thousand, and in one line the first")
    func all() throws {
        let fault = try #require(throws: RateFileFault.self) {
            try RateFile(Array("date,currency,rate\n2026-03-02,USX,0\nx,USD,1\n".utf8), through: day("2026-03-31"))
        }
        #expect(fault.findings.map(\.line) == [2, 2, 3])
        #expect(fault.description == "line 2: \"USX\" is no currency of ISO 4217, like USD; and 2 more")
        let many = "date,currency,rate\n" + String(repeating: "2026-03-02,USX,0\n", count: 5000)
        #expect(try rateFaults(many).count == RateFileFault.most)
    }

    @Test("more than is read, by bytes, rates and length of a line")
    func size() throws {
        let long = [UInt8](repeating: UInt8(ascii: "\n"), count: RateFile.longest + 1)
        let fault = try #require(throws: RateFileFault.self) { try RateFile(long, through: day("2026-03-31")) }
        #expect(fault.description == "it is longer than 32 MiB; import it in parts")
        let rates = Array("Date,USD,CNY\n2026-03-02,1,1\n2026-03-03,1,1\n".utf8)
        #expect(try RateFile(rates, through: day("2026-03-31"), upTo: 4).rates.count == 4)
        let many = try #require(throws: RateFileFault.self) { try RateFile(rates, through: day("2026-03-31"), upTo: 3) }
        #expect(many.description == "line 3: it has more than 3 rates; import it in parts")
        #expect(
            try rateFaults("date,currency,rate\n" + String(repeating: "x", count: 5000)).first?.hasPrefix(
                "line 2: the line is longer") == true)
    }

    /// The faults of a file of the bank's with these lines from line 3 on.
    private func bank(_ lines: String...) throws -> [String] {
        try rateFaults("<Envelope>\n<Cube>\n" + lines.map { $0 + "\n" }.joined() + "</Cube></Envelope>")
    }
}
