import Base

/// Reads rates out of lines with commas: the bank's, a line for each day; or the operator's, a line for each rate.
enum RateCSVReader {
    static func read(
        _ bytes: [UInt8], from start: Int, into collector: inout RateCollector
    ) throws(RateFileFault.Finding) {
        var number = 0
        var header: [Substring]?
        var rest = bytes[start...]
        while !rest.isEmpty {
            number += 1
            let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            var line = rest[..<end]
            rest = rest[min(end + 1, rest.endIndex)...]
            if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
            guard line.count <= longestLine else {
                throw .init(line: number, message: "the line is longer than \(longestLine) bytes: \(forms)")
            }
            guard !line.isEmpty else { continue }
            let fields = String(decoding: line, as: UTF8.self).split(separator: ",", omittingEmptySubsequences: false)
            if let header {
                try read(fields, header, number, &collector)
            } else {
                header = try self.header(fields, number, &collector)
            }
        }
    }

    /// The header, once it is known to be one.
    private static func header(
        _ fields: [Substring], _ line: Int, _ collector: inout RateCollector
    ) throws(RateFileFault.Finding) -> [Substring] {
        if fields == ownHeader { return fields }
        guard fields.first == "Date", fields.count > 1 else { throw .init(line: line, message: forms) }
        // The bank ends each line with a comma.
        let names = fields.last?.isEmpty == true ? fields.dropLast() : fields[...]
        var places: Set<Substring> = []
        for name in names.dropFirst() {
            if try collector.check(name, line: line), !places.insert(name).inserted {
                try collector.complain(line, "\(name) has two columns")
            }
        }
        guard collector.findings.isEmpty else {
            throw .init(line: line, message: "without its columns it cannot be read")
        }
        return fields
    }

    private static func read(
        _ fields: [Substring], _ header: [Substring], _ line: Int, _ collector: inout RateCollector
    ) throws(RateFileFault.Finding) {
        guard fields.count == header.count else {
            return try collector.complain(line, "it has \(fields.count) fields, and the first line has \(header.count)")
        }
        guard header != ownHeader else {
            if !collector.isDay(fields[0]) { try collector.begin(fields[0], line: line, isComplete: false) }
            return try collector.add(fields[1], fields[2], line: line)
        }
        try collector.begin(fields[0], line: line, isComplete: true)
        for (name, rate) in zip(header, fields).dropFirst() {
            if name.isEmpty {
                if !rate.isEmpty { try collector.complain(line, "something stands after its last comma") }
            } else if rate != "N/A" {
                try collector.add(name, rate, line: line)
            }
        }
    }

    private static let ownHeader: [Substring] = ["date", "currency", "rate"]
    private static let longestLine = 4096
    private static let forms =
        "this is no file of rates: it is the bank's eurofxref-hist.xml or eurofxref-hist.csv, or lines with commas below "
        + "date,currency,rate"
}
