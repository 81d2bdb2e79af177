/// A list on a page.
struct PageTable: Sendable {
    /// A column.
    struct Column: Sendable, Hashable {
        /// Its heading, in words.
        var title: String
        /// Whether it is right-aligned.
        var isNumeric = false
        /// Whether its texts are periods, which are not broken at their hyphens.
        var isPeriods = false

        /// A column of texts.
        static func text(_ title: String) -> Column { Column(title: title) }
        /// A column of numbers.
        static func number(_ title: String) -> Column { Column(title: title, isNumeric: true) }
        /// A column of periods.
        static func period(_ speaker: Speaker) -> Column { Column(title: speaker.word("period"), isPeriods: true) }
    }

    /// A row.
    struct Row: Sendable {
        /// What each cell shows.
        var cells: [Shown]
        /// How strongly each cell is coloured, 1 to 5, by its place; of a heat map.
        var heat: [Int: Int] = [:]
    }

    /// What it is, in words.
    var caption: String
    /// Its columns.
    var columns: [Column]
    /// Its rows.
    var rows: [Row]
    /// What is said where it has none.
    var empty: String
    /// A sentence below it.
    var about: String?
    /// Where the list goes on.
    var next: Place?
    /// The whole list as a file.
    var file: Place?
    /// Where what is new in it is looked for by a script; nil for nowhere.
    var fresh: Place?
    /// Whether it has many columns of few characters, which stay a table on a phone.
    var isDense = false

    /// A table of rows without colours.
    init(
        _ caption: String, _ columns: [Column], _ rows: [[Shown]], empty: String, about: String? = nil,
        next: Place? = nil, file: Place? = nil
    ) {
        self.init(caption, columns, rows: rows.map { Row(cells: $0) }, empty: empty)
        (self.about, self.next, self.file) = (about, next, file)
    }

    /// A table.
    init(_ caption: String, _ columns: [Column], rows: [Row], empty: String) {
        self.caption = caption
        self.columns = columns
        self.rows = rows
        self.empty = empty
    }

    /// The most rows of a figure on its page; its file has all of them.
    static let mostRows = 100

    /// What is said where a figure has more rows than its page shows; empty where it has not.
    static func rest(of count: Int, _ speaker: Speaker) -> String {
        guard count > mostRows else { return "" }
        return " " + speaker.word("rows_latest", ["number": speaker.number(Int64(mostRows))])
    }

    func members(_ speaker: Speaker) -> [String: PageValue?] {
        [
            "caption": .text(caption), "empty": .text(empty), "about": .optional(about),
            "hasRows": .flag(!rows.isEmpty), "isDense": .flag(isDense),
            "columns": .list(
                columns.map { .members(["title": .text($0.title), "isNumeric": .flag($0.isNumeric)]) }),
            "rows": .list(rows.map { .members(["cells": .list(cells(of: $0, speaker))]) }),
            "hasLinks": .flag(next != nil || file != nil), "next": .optional(next.map { speaker.link($0) }),
            "file": .optional(file.map { speaker.link($0) }),
            "fresh": .optional(fresh.map { speaker.link($0) }),
            "new": fresh == nil ? nil : .text(speaker.word("rows_new")),
        ]
    }

    private func cells(of row: Row, _ speaker: Speaker) -> [PageValue] {
        zip(columns, row.cells).enumerated().map { place, pair in
            let (column, shown) = pair
            var members = shown.members(speaker)
            members["label"] = .text(column.title)
            let classes =
                (column.isNumeric ? ["number"] : []) + (column.isPeriods ? ["period"] : [])
                + (row.heat[place].map { ["heat\($0)"] } ?? [])
            if !classes.isEmpty { members["class"] = .text(classes.joined(separator: " ")) }
            return .members(members)
        }
    }
}
