extension Document {
    /// The rows that fit no table: those of another number of columns than their header has, and those below which the line is
    /// missing that makes a header of them. A blank line within a table leaves such a row behind it.
    var tornRows: [String] {
        let rows: [String?] = prose.map { line in
            let trimmed = line.drop { $0 == " " }
            return line.count - trimmed.count < 4 && trimmed.hasPrefix("|") ? String(trimmed) : nil
        }
        var torn: [String] = []
        var header: String?
        for (index, row) in rows.enumerated() {
            guard let row else {
                header = nil
                continue
            }
            if let header {
                if Self.columns(row) != Self.columns(header) { torn.append(row) }
            } else {
                header = row
                let below = index + 1 < rows.count ? rows[index + 1] : nil
                if below?.wholeMatch(of: /\|(?::?-+:?\|)+/) == nil { torn.append(row) }
            }
        }
        return torn
    }

    /// How many columns a row has. A bar between backticks is no border.
    private static func columns(_ row: String) -> Int {
        row.replacing(/`[^`]*`/, with: "").count { $0 == "|" } - 1
    }
}
