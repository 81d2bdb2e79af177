import APIKit
import AppStorePayloads
import Base
import FigureStore
import Figures

/// Figures: all of them, each with its picture and its table, and the rows behind each number.
enum FigurePages {
    static var pages: [Page] {
        [
            .get("/figures", "figures", in: .figures) { .page(index($0)) },
            .get("/figures/users", "figure_users", in: .figures) { .page(try await AccountFigurePage($0).users()) },
            .get("/figures/usage", "figure_usage", in: .figures) { .page(try await AccountFigurePage($0).usage()) },
            .get("/figures/users.csv", "figure_users_file", in: .figures) { call in
                try await call.file("getUserFigure", call.kept(["from", "to", "by", "split"]))
            },
            .get("/figures/usage.csv", "figure_usage_file", in: .figures) { call in
                try await call.file("getUsageFigure", call.kept(["from", "to", "by"]))
            },
            .get("/figures/{name}/table.csv", "figure_file", in: .figures) { call in
                try await call.file("getFigure", path: ["name": call.part("name")], call.kept(FigurePage.filters))
            },
            .get("/figures/{name}", "figure", in: .figures) { .page(try await FigurePage($0).content()) },
            .get("/figures/{name}/rows", "figure_rows", in: .figures) { .page(try await rows($0)) },
            .get("/figures/{name}/rows.csv", "figure_rows_file", in: .figures) { call in
                try await call.file("listFigureRows", path: ["name": call.part("name")], all(of: call))
            },
        ]
    }

    private static func index(_ call: PageCall) -> PageContent {
        let speaker = call.speaker
        func row(_ name: String) -> [Shown] {
            [
                .link(.text(speaker.word(of: "figure", name)), Place("figures", name)),
                .text(speaker.word(of: "figure_about", name)),
            ]
        }
        let title = speaker.word(of: "section", Section.figures.rawValue)
        let table = PageTable(
            title, [.text(speaker.word("figure")), .text(speaker.word("counts"))],
            Figure.allCases.map { row($0.rawValue) } + [row("users"), row("usage")], empty: "")
        return PageContent(title, [.table(table)], commands: [CommandLine.text(["figures", "--help"])])
    }

    // MARK: Rows

    /// A value of the query may be empty: then it asks for rows that do not say it.
    private static let filters = [
        "from", "to", "by", "in", "environment", "app", "product", "plan", "country", "currency", "month",
    ]

    private static func all(of call: PageCall) -> [String: String?] {
        Dictionary(filters.map { ($0, call.query[$0]) }) { first, _ in first }
    }

    private static func rows(_ call: PageCall) async throws -> PageContent {
        let speaker = call.speaker
        let name = call.part("name")
        var query = all(of: call)
        query["after"] = .some(call.value("after"))
        let page = try await call.ask("listFigureRows", path: ["name": name], query)
        let target = call.value("in").flatMap { $0 == "none" ? nil : $0 }
        let rows = page.objects("rows").map { row(of: $0, in: target) }
        var table = PageTable(
            speaker.word("rows"),
            [
                .text(speaker.word("when")), .text(speaker.word("counts_as")), .text(speaker.word("order")),
                .number(speaker.word("amount")), .number(speaker.word("converted")), .text(speaker.word("product_id")),
                .text(speaker.word("app")), .text(speaker.word("country")), .text(speaker.word("transaction")),
            ], rows, empty: speaker.word("no_rows"),
            about: Figure(rawValue: name)?.isMoney == true ? speaker.word("rows_about") : nil)
        let here = Place(parts: ["figures", name, "rows"], query: call.query)
        table.next = page.string("next").map { here.with("after", $0) }
        table.file = Place(parts: ["figures", name, "rows.csv"], query: call.query).with("after", nil)
        let then: [Block] = speaker.instant == nil ? [] : [.note(speaker.word("figures_then"), .calm)]
        let back = PageLink(speaker.word(of: "figure", name), Place("figures", name))
        return PageContent(
            "\(speaker.word(of: "figure", name)): \(speaker.word("rows"))", [.links([back])] + then + [.table(table)],
            commands: [
                CommandLine.text(
                    ["figures", name, "--rows"],
                    filters.map { ($0, $0 == "environment" ? speaker.environment : call.value($0)) }
                        + [("at", speaker.instant?.description)])
            ])
    }

    /// - Parameter target: the currency that amounts are converted to.
    private static func row(of row: JSONObject, in target: String?) -> [Shown] {
        let order = row.string("order")
        return [
            row.at("at"), row.standing("measure", of: "measure"),
            Shown.words(order).leading(to: order.map { Place("orders", $0) }), row.amount("amount"),
            .amount(row.integer("converted"), target), row.id("productId"), row.words("bundleId"),
            row.words("storefront"),
            row.id("transactionId"),
        ]
    }
}
