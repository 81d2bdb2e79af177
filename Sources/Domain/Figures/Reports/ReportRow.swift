/// A line of a report, with its values by the names of their columns.
struct ReportRow {
    /// The most columns of a line.
    static let mostColumns = 200

    /// The line's number, from 1 on.
    let line: Int
    /// The values, without blanks around them.
    let cells: [String]

    /// Reads a line. Its values are divided by tabs.
    init(_ line: (number: Int, bytes: ArraySlice<UInt8>)) throws(ReportFault) {
        self.line = line.number
        let parts = line.bytes.split(
            separator: UInt8(ascii: "\t"), maxSplits: Self.mostColumns, omittingEmptySubsequences: false)
        guard parts.count <= Self.mostColumns else {
            throw ReportFault(line: line.number, "it has more than \(Self.mostColumns) columns; a report has fewer")
        }
        var cells: [String] = []
        for part in parts {
            guard let text = String(validating: part, as: UTF8.self) else {
                throw ReportFault(line: line.number, "it is not UTF-8; save the file as Apple sends it")
            }
            cells.append(Self.trimmed(text))
        }
        self.cells = cells
    }

    /// Whether nothing stands in it.
    var isBlank: Bool { cells.allSatisfy(\.isEmpty) }

    private static func trimmed(_ text: String) -> String {
        var text = text[...]
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
