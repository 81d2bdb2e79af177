import Base

/// Reads the European Central Bank's XML: a cube of cubes, one for each day, with one for each currency in it.
///
///     <gesmes:Envelope …><Cube><Cube time="2026-03-02"><Cube currency="USD" rate="1.0823"/>…</Cube>…</Cube></gesmes:Envelope>
enum BankXMLReader {
    static func read(
        _ bytes: [UInt8], from start: Int, into collector: inout RateCollector
    ) throws(RateFileFault.Finding) {
        var scanner = XMLScanner(bytes, from: start)
        // The depth of the element that is passed over: it names the sender.
        var ignored: Int?
        var rates = 0
        while let step = try scanner.next() {
            switch step {
            case .begins(let name, let attributes):
                guard ignored == nil else { continue }
                switch scanner.depth {
                case 1:
                    guard name == "Envelope" else {
                        throw .init(
                            line: scanner.line, message: "this is no file of rates: it begins with \(quoting(name))")
                    }
                case 2 where name != "Cube": ignored = 2
                case 2: try check(attributes, [], scanner.line)
                case 3 where name == "Cube":
                    if attributes["currency"] != nil {
                        throw .init(
                            line: scanner.line, message: "the day is missing: a rate stands outside of all days")
                    }
                    try check(attributes, ["time"], scanner.line)
                    try collector.begin(attributes["time"] ?? "", line: scanner.line, isComplete: true)
                    rates = 0
                case 4 where name == "Cube":
                    try check(attributes, ["currency", "rate"], scanner.line)
                    try collector.add(
                        attributes["currency"] ?? "", attributes["rate"] ?? "", line: scanner.line)
                    rates += 1
                default:
                    throw .init(line: scanner.line, message: "\(quoting(name)) has no meaning here; fetch it again")
                }
            case .ends:
                if scanner.depth == 2, ignored == nil, rates == 0 {
                    try collector.complain(scanner.line, "the day has no rates; fetch it again")
                }
                if let depth = ignored, scanner.depth < depth { ignored = nil }
            case .text:
                guard ignored == nil else { continue }
                throw .init(line: scanner.line, message: "there is text where a rate is meant; fetch it again")
            }
        }
    }

    /// A member that is not known could change what the others mean.
    private static func check(
        _ attributes: [String: String], _ known: Set<String>, _ line: Int
    ) throws(RateFileFault.Finding) {
        guard let stranger = attributes.keys.sorted().first(where: { !known.contains($0) }) else { return }
        throw .init(line: line, message: "\(quoting(stranger)) has no meaning in a cube; fetch the file again")
    }

    private static func quoting(_ text: String) -> String { YAMLFault.quoting(text) }
}
