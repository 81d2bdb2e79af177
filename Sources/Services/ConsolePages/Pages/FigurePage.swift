import APIKit
import AppStorePayloads
import Base
import FigureStore
import Figures

/// One figure: by which periods and groups, a picture of its first value, and a table in which each number leads to its rows. Money in several
/// currencies is shown in one of them at a time: the reader chooses which.
struct FigurePage: Sendable {
    private let call: PageCall
    private let speaker: Speaker
    private let name: String

    init(_ call: PageCall) {
        self.call = call
        speaker = call.speaker
        name = call.part("name")
    }

    /// What narrows it down, as the admin API calls it.
    static let filters = ["from", "to", "by", "split", "in", "app"]

    func content() async throws -> PageContent {
        guard let figure = Figure(rawValue: name) else {
            throw APIProblem(.notFound, "there is no such figure")
        }
        var question = call.kept(Self.filters)
        // The whole of a split in all currencies is long. Without a split the answer says which currencies there are.
        let isLong = figure.isMoney && call.value("split") != nil && !isByCurrency
        if isLong { question["split"] = .some(nil) }
        var answer = try await call.ask("getFigure", path: ["name": name], question)
        let currencies = isByCurrency ? [:] : Self.currencies(of: answer)
        let shown = shown(of: currencies)
        if isLong {
            question = call.kept(Self.filters)
            question["currency"] = shown
            // One more than are shown says that there are more.
            question["last"] = String(PageTable.mostRows + 1)
            answer = try await call.ask("getFigure", path: ["name": name], question)
        }
        let cells = answer.objects("cells").filter { shown == nil || Self.currency(of: $0) == shown }
        var blocks: [Block] = [
            .text(speaker.word(of: "figure_about", name)),
            .code(speaker.word("definition"), answer.string("about") ?? ""),
            .form(filter(figure, currencies.keys.sorted(), shown)),
        ]
        if speaker.instant != nil { blocks.append(.note(speaker.word("figures_then"), .calm)) }
        var table: PageTable
        if figure.isByMonthsLater {
            table = heat(answer, cells, isMoney: figure.isMoney)
        } else {
            if answer.string("split") == nil, let plot = plot(answer, cells) { blocks.append(.plot(plot)) }
            table = self.table(answer, cells)
        }
        table.about = days(answer) + PageTable.rest(of: cells.count, speaker)
        if shown != nil {
            let number = speaker.number(Int64(currencies.count))
            table.about? += " " + speaker.word("one_currency", ["number": number])
        }
        blocks.append(.table(table))
        let lost = answer.objects("notConverted").map { lost in
            "\(speaker.number(lost.integer("count") ?? 0)) (\(speaker.money(lost.integer("amount") ?? 0, lost.string("currency") ?? "")))"
        }
        if !lost.isEmpty {
            blocks.append(.note(speaker.word("not_converted", ["rows": lost.joined(separator: ", ")]), .warning))
        }
        if answer.bool("taxIncluded") == true { blocks.append(.note(speaker.word("tax_included"), .calm)) }
        return PageContent(speaker.word(of: "figure", name), blocks, commands: [command()])
    }

    private func command() -> String {
        let by = [call.value("by") ?? "month", call.value("split")].compactMap { $0 }.joined(separator: ",")
        return CommandLine.text(
            ["figures", name],
            [
                ("from", call.value("from")), ("to", call.value("to")), ("by", by), ("in", call.value("in")),
                ("app", call.value("app")), ("environment", speaker.environment), ("at", speaker.instant?.description),
            ])
    }

    /// - Parameters:
    ///   - currencies: those of the answer.
    ///   - shown: the one that is shown; nil where there is no choice.
    private func filter(_ figure: Figure, _ currencies: [String], _ shown: String?) -> PageForm {
        var fields: [PageForm.Field] = [
            .states(
                "by", speaker.word("by_period"), "step", FigureQuestion.Step.allCases.map(\.rawValue),
                call.value("by") ?? FigureQuestion.Step.month.rawValue, speaker, isRequired: true)
        ]
        if !figure.splits.isEmpty {
            let splits = figure.splits.map(\.rawValue)
            fields.append(.states("split", speaker.word("by_group"), "split", splits, call.value("split"), speaker))
        }
        fields += [
            .line("from", speaker.word("from"), call.value("from"), most: 10),
            .line("to", speaker.word("to"), call.value("to"), most: 10),
            .line("app", speaker.word("app"), call.value("app")),
        ]
        if figure.isMoney { fields.append(.line("in", speaker.word("in_currency"), call.value("in"), most: 4)) }
        if let shown {
            let choices = currencies.map { PageForm.Field.Choice($0, $0.isEmpty ? "–" : $0) }
            fields.append(
                PageForm.Field("currency", speaker.word("shown_currency"), .choice(choices), shown, isRequired: true))
        }
        return .filter(Place("figures", name), fields, speaker.word("filter"))
    }

    // MARK: The currency

    private static func currency(of cell: JSONObject) -> String { cell.string("currency") ?? "" }

    /// The currencies of an answer, each with how many of its cells have an amount other than 0; none where the answer has no money.
    private static func currencies(of answer: JSONObject) -> [String: Int] {
        let cells = answer.objects("cells").filter { $0.string("currency") != nil }
        return Dictionary(
            cells.map { cell in
                let hasAmount = (cell["values"]?.elements ?? []).contains { $0.integer.map { $0 != 0 } ?? false }
                return (currency(of: cell), hasAmount ? 1 : 0)
            }, uniquingKeysWith: +)
    }

    /// Whether the groups are the currencies: then all of them are shown.
    private var isByCurrency: Bool { call.value("split") == FigureQuestion.Split.currency.rawValue }

    /// The currency that is shown of several: the one that was chosen, else the first one of those with the most amounts. Nil where there are not
    /// several.
    private func shown(of currencies: [String: Int]) -> String? {
        guard currencies.count > 1 else { return nil }
        // An empty one is chosen, too: that of what no record says.
        if let chosen = call.query["currency"], currencies[chosen] != nil { return chosen }
        return currencies.min { ($1.value, $0.key) < ($0.value, $1.key) }?.key
    }

    // MARK: The table

    private func columns(_ answer: JSONObject) -> [(name: String, unit: String)] {
        answer.objects("columns").map { ($0.string("name") ?? "", $0.string("unit") ?? "") }
    }

    private func table(_ answer: JSONObject, _ cells: [JSONObject]) -> PageTable {
        let columns = columns(answer)
        let isSplit = answer.string("split") != nil
        let hasMoney = !isByCurrency && cells.contains { $0.string("currency") != nil }
        var headings: [PageTable.Column] = [.period(speaker)]
        if isSplit { headings.append(.text(speaker.word(of: "split", answer.string("split") ?? ""))) }
        if hasMoney { headings.append(.text(speaker.word("currency"))) }
        headings += columns.map { PageTable.Column.number(speaker.word(of: "column", $0.name)) }
        headings.append(.text(speaker.word("notes")))
        let rows = cells.suffix(PageTable.mostRows).map { cell -> [Shown] in
            var row: [Shown] = [Shown.words(cell.string("period")).leading(to: self.rows(of: cell))]
            if isSplit { row.append(.words(cell.string("group").map { $0.isEmpty ? "–" : $0 })) }
            if hasMoney { row.append(cell.words("currency")) }
            let values = cell["values"]?.elements ?? []
            for (column, value) in zip(columns, values) {
                row.append(shown(value.integer, column.unit, cell.string("currency")))
            }
            row.append(standing(of: cell))
            return row
        }
        return PageTable(
            speaker.word(of: "figure", name), headings, rows, empty: speaker.word("nothing_yet"), file: file)
    }

    private func shown(_ value: Int64?, _ unit: String, _ currency: String?) -> Shown {
        switch unit {
        case "money": .amount(value, currency)
        case "share": .part(value)
        default: .count(value)
        }
    }

    /// What about a period is not final.
    private func standing(of cell: JSONObject) -> Shown {
        var notes: [Shown] = []
        if cell.bool("running") == true { notes.append(.text(speaker.word("running"))) }
        if cell.bool("upToDate") == false { notes.append(.text(speaker.word("not_up_to_date"))) }
        if cell.bool("proven") == false { notes.append(.text(speaker.word("not_proven"))) }
        if cell.bool("notConverted") == true { notes.append(.text(speaker.word("not_converted_cell"))) }
        if cell.bool("recorded") == true { notes.append(.text(speaker.word("recorded_cell"))) }
        return .all(notes)
    }

    /// The page of the rows behind a cell.
    private func rows(of cell: JSONObject) -> Place? {
        guard let path = cell.string("rows"), let mark = path.firstIndex(of: "?"),
            let fields = FormFields(path[path.index(after: mark)...].utf8)
        else { return nil }
        // An empty value asks for rows that do not say it: it stays.
        var place = Place("figures", name, "rows")
        place.query = fields.values
        // Links have the instant of the page as it is.
        place.query["at"] = nil
        return place
    }

    /// The same table as a file.
    private var file: Place { Place(parts: ["figures", name, "table.csv"], query: call.kept(Self.filters)) }

    private func days(_ answer: JSONObject) -> String {
        speaker.word(
            "days_of",
            [
                "zone": answer.string("zone").map { ZonedTime.name($0) } ?? "–", "from": answer.string("from") ?? "–",
                "to": answer.string("to") ?? "–",
            ])
    }

    // MARK: Customers by the months after their first payment

    private func heat(_ answer: JSONObject, _ cells: [JSONObject], isMoney: Bool) -> PageTable {
        let columns = columns(answer)
        let months = Cohort.months.compactMap { month in columns.firstIndex { $0.name == "m\(month)" } }
        let hasMoney = cells.contains { $0.string("currency") != nil }
        var headings: [PageTable.Column] = [.period(speaker)]
        if answer.string("split") != nil {
            headings.append(.text(speaker.word(of: "split", answer.string("split") ?? "")))
        }
        if hasMoney { headings.append(.text(speaker.word("currency"))) }
        headings.append(.number(speaker.word("customers")))
        headings += months.map { PageTable.Column.number(columns[$0].name) }
        let most =
            cells.flatMap { cell -> [Int64] in
                let values = cell["values"]?.elements ?? []
                return months.compactMap { $0 < values.count ? values[$0].integer : nil }
            }.max() ?? 0
        let rows = cells.suffix(PageTable.mostRows).map { cell -> PageTable.Row in
            let values = cell["values"]?.elements ?? []
            var row = PageTable.Row(cells: [Shown.words(cell.string("period")).leading(to: self.rows(of: cell))])
            if answer.string("split") != nil { row.cells.append(cell.words("group")) }
            if hasMoney { row.cells.append(cell.words("currency")) }
            row.cells.append(.count(values.first?.integer))
            for month in months {
                let value = month < values.count ? values[month].integer : nil
                if let value, value > 0, most > 0 {
                    row.heat[row.cells.count] = Int(min(5, 1 + 5 * Int128(value) / Int128(most)))
                }
                row.cells.append(isMoney ? .amount(value, cell.string("currency")) : .part(value))
            }
            return row
        }
        var table = PageTable(
            speaker.word(of: "figure", name), headings, rows: rows, empty: speaker.word("nothing_yet"))
        table.isDense = true
        table.file = file
        return table
    }

    // MARK: The picture

    /// - Parameter cells: of one currency, or without money.
    private func plot(_ answer: JSONObject, _ cells: [JSONObject]) -> Plot? {
        guard let unit = columns(answer).first?.unit, let first = cells.first else { return nil }
        let currency = Self.currency(of: first)
        let own = cells.filter { $0.bool("notConverted") != true }
        let byPeriod = Dictionary(own.map { ($0.string("period") ?? "", $0) }) { first, _ in first }
        let names = Self.periods(answer) ?? own.suffix(Plot.most).map { $0.string("period") ?? "" }
        let bars = names.map { name in
            let cell = byPeriod[name]
            let value = cell?["values"]?.elements?.first?.integer
            // A share of nothing is none.
            return Plot.Bar(
                name: name, value: unit == "share" ? value : value ?? 0,
                isUnfinished: cell?.bool("running") == true || cell?.bool("upToDate") == false)
        }
        let title = speaker.word(of: "figure", self.name)
        return Plot(
            title: currency.isEmpty ? title : "\(title), \(currency)",
            write: { value, speaker in
                switch unit {
                case "money": speaker.money(value, currency)
                case "share": speaker.share(value)
                default: speaker.number(value)
                }
            }, finest: Self.finest(unit), bars: bars, note: days(answer))
    }

    /// The least distance of two values that are written as different texts: one of a number, a tenth of a percent, a hundredth of a currency.
    private static func finest(_ unit: String) -> Int64 {
        switch unit {
        case "money": 10
        case "share": 100
        default: 1
        }
    }

    /// All periods of the answer, also those without a cell; nil where only its cells say them.
    private static func periods(_ answer: JSONObject) -> [String]? {
        guard let from = answer.string("from").flatMap({ CalendarDay($0) }),
            let to = answer.string("to").flatMap({ CalendarDay($0) }), from <= to
        else { return nil }
        switch answer.string("by") {
        case FigureQuestion.Step.day.rawValue:
            guard to.number - from.number < Plot.most else { return nil }
            return (from.number...to.number).map { CalendarDay(number: $0).description }
        case FigureQuestion.Step.month.rawValue:
            var names: [String] = []
            var month: FigureMonth? = FigureMonth(from)
            while let next = month, next <= FigureMonth(to), names.count < Plot.most {
                names.append(next.description)
                month = next.advanced(by: 1)
            }
            return names
        default: return nil
        }
    }
}
