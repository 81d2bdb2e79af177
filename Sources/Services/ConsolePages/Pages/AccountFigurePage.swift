import AppStorePayloads
import Base
import FigureStore
import Operations

/// Figures of accounts: how many there were, and what they used.
struct AccountFigurePage: Sendable {
    private let call: PageCall
    private let speaker: Speaker

    init(_ call: PageCall) {
        self.call = call
        speaker = call.speaker
    }

    // MARK: How many there were

    func users() async throws -> PageContent {
        let answer = try await call.ask("getUserFigure", call.kept(["from", "to", "by", "split"]))
        let cells = answer.objects("cells")
        let title = speaker.word("figure.users")
        var blocks: [Block] = [
            .text(speaker.word("figure_about.users")),
            .code(speaker.word("definition"), answer.string("about") ?? ""),
            .form(filter("users", splits: UserFigure.Split.allCases.map(\.rawValue))),
        ]
        blocks += then
        if answer.string("split") == nil { blocks.append(.plot(plot(cells, "total", title))) }
        var headings: [PageTable.Column] = [.period(speaker)]
        if let split = answer.string("split") { headings.append(.text(speaker.word(split))) }
        let names = ["users", "onTrial", "subscribers", "expired", "free", "total", "anonymous"]
        headings += names.map { PageTable.Column.number(speaker.word(of: "column", $0)) }
        headings.append(.text(speaker.word("notes")))
        let rows = cells.suffix(PageTable.mostRows).map { cell -> [Shown] in
            var row = [cell.words("period")]
            if answer.string("split") != nil { row.append(cell.words("group")) }
            row += names.map { Shown.count(cell[$0]?.integer) }
            row.append(standing(of: cell))
            return row
        }
        blocks.append(
            .table(
                PageTable(
                    title, headings, rows, empty: speaker.word("nothing_yet"), about: about(answer),
                    file: Place("figures", "users.csv", query: call.kept(["from", "to", "by", "split"])))))
        return PageContent(title, blocks, commands: [command("users")])
    }

    // MARK: What they used

    func usage() async throws -> PageContent {
        let answer = try await call.ask("getUsageFigure", call.kept(["from", "to", "by"]))
        let title = speaker.word("figure.usage")
        let rows = answer.objects("cells").suffix(PageTable.mostRows).map { cell -> [Shown] in
            [
                cell.words("period"), cell.words("feature"), cell.words("tier"), cell.count("used"),
                cell.count("accounts"), standing(of: cell),
            ]
        }
        let table = PageTable(
            title,
            [
                .period(speaker), .text(speaker.word("feature")), .text(speaker.word("tier")),
                .number(speaker.word("used")), .number(speaker.word("accounts")), .text(speaker.word("notes")),
            ], rows, empty: speaker.word("nothing_yet"), about: about(answer),
            file: Place("figures", "usage.csv", query: call.kept(["from", "to", "by"])))
        return PageContent(
            title,
            [
                .text(speaker.word("figure_about.usage")),
                .code(speaker.word("definition"), answer.string("about") ?? ""),
                .form(filter("usage", splits: [])),
            ] + then + [.table(table)], commands: [command("usage")])
    }

    // MARK: Both

    /// What a page of the past has.
    private var then: [Block] {
        speaker.instant == nil ? [] : [.note(speaker.word("figures_then"), .calm)]
    }

    private func filter(_ name: String, splits: [String]) -> PageForm {
        var fields: [PageForm.Field] = [
            .states(
                "by", speaker.word("by_period"), "step", CalendarStep.allCases.map(\.rawValue),
                call.value("by") ?? CalendarStep.month.rawValue, speaker, isRequired: true),
            PageForm.Field("from", speaker.word("from"), .day, call.value("from")),
            PageForm.Field("to", speaker.word("to"), .day, call.value("to")),
        ]
        if !splits.isEmpty {
            let choices =
                [PageForm.Field.Choice("", speaker.word("any"))]
                + splits.map { PageForm.Field.Choice($0, speaker.word($0)) }
            fields.append(
                PageForm.Field("split", speaker.word("by_group"), .choice(choices), call.value("split")))
        }
        return .filter(Place("figures", name), fields, speaker.word("filter"))
    }

    private func plot(_ cells: [JSONObject], _ column: String, _ title: String) -> Plot {
        Plot(
            title: title, write: { $1.number($0) },
            bars: cells.suffix(Plot.most).map { cell in
                Plot.Bar(
                    name: cell.string("period") ?? "", value: cell[column]?.integer ?? 0,
                    isUnfinished: cell.bool("running") == true)
            })
    }

    private func standing(of cell: JSONObject) -> Shown {
        var notes: [Shown] = []
        if cell.bool("running") == true { notes.append(.text(speaker.word("running"))) }
        if cell.bool("late") == true { notes.append(.text(speaker.word("counted_late"))) }
        if cell.bool("complete") == false { notes.append(.text(speaker.word("not_up_to_date"))) }
        return .all(notes)
    }

    private func about(_ answer: JSONObject) -> String? {
        var about = PageTable.rest(of: answer.objects("cells").count, speaker)
        if let missing = answer.integer("missing"), missing > 0 {
            about = speaker.word("periods_missing", ["number": speaker.number(missing)]) + about
        }
        return about.isEmpty ? nil : about
    }

    private func command(_ name: String) -> String {
        let by = [call.value("by") ?? "month", call.value("split")].compactMap { $0 }.joined(separator: ",")
        return CommandLine.text(
            ["figures", name],
            [
                ("from", call.value("from")), ("to", call.value("to")), ("by", by),
                ("environment", name == "users" ? speaker.environment : nil), ("at", speaker.instant?.description),
            ])
    }
}
