package import Base

/// A file of exchange rates, read whole.
///
/// It has one of three forms:
/// - the European Central Bank's `eurofxref-hist.xml`, or its shorter kin;
/// - its `eurofxref-hist.csv`: `Date,USD,JPY,…`, a line for each day;
/// - the operator's own: `date,currency,rate`, a line for each rate, like `2026-03-02,USD,1.0823` for what one euro was.
///
/// In each the days stand in order, the newest or the oldest first, and each day once. A file of the bank's has every working day.
package struct RateFile: Sendable, Hashable {
    /// The longest file that is read, in bytes. The bank's whole history has about a third of it.
    package static let longest = 32 << 20
    /// The most rates of a file.
    package static let mostRates = 1_000_000

    /// The rates in the order of the file, at least one; each currency once a day.
    package let rates: [ExchangeRate]

    /// Reads a file.
    /// - Parameters:
    ///   - bytes: its content, in UTF-8.
    ///   - last: the last day that can have rates, which is today: a rate of a later one is a fault.
    ///   - most: the most rates that are read.
    package init(
        _ bytes: [UInt8], through last: CalendarDay, upTo most: Int = RateFile.mostRates
    ) throws(RateFileFault) {
        var collector = RateCollector(through: last, upTo: most)
        do throws(RateFileFault.Finding) {
            guard bytes.count <= Self.longest else {
                throw .init(line: nil, message: "it is longer than \(Self.longest >> 20) MiB; import it in parts")
            }
            let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
            if bytes[start...].first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "<") {
                try BankXMLReader.read(bytes, from: start, into: &collector)
            } else {
                try RateCSVReader.read(bytes, from: start, into: &collector)
            }
            if collector.rates.isEmpty, collector.findings.isEmpty {
                throw .init(line: nil, message: "it has no rates")
            }
        } catch {
            collector.findings.append(error)
        }
        guard collector.findings.isEmpty else { throw RateFileFault(findings: collector.findings) }
        rates = collector.rates
    }
}
