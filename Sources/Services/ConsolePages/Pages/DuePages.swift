import AppStorePayloads
import Base

/// What was due and was not heard of: the numbers by age, and which ends these are.
enum DuePages {
    static var pages: [Page] { list.pages("due", in: .service) { try await around($0) } }

    private static let list = PageList(
        endpoint: "listDueEnds", rows: "ends", place: "due", filters: ["age", "app", "imported"],
        empty: { $0.word("nothing_due") },
        columns: { speaker in
            [
                .text(speaker.word("due_at")), .text(speaker.word("age")), .text(speaker.word("due_kind")),
                .text(speaker.word("original_transaction")), .text(speaker.word("product_id")),
                .text(speaker.word("app")), .text(speaker.word("imported")),
            ]
        },
        row: { end, _ in
            let purchase = end.string("originalTransactionId")
            return [
                end.at("endsAt"), end.standing("age", of: "due_age"), end.standing("kind", of: "due_kind"),
                Shown.id(purchase).leading(to: purchase.map { Place("orders", query: ["search": $0]) }),
                end.id("productId"), end.words("bundleId"), end.whether("imported"),
            ]
        },
        fields: { call in
            [
                .states("age", call.speaker.word("age"), "due_age", ages, call.value("age"), call.speaker),
                .line("app", call.speaker.word("app"), call.value("app")),
                PageList.only("imported", call.speaker.word("imported"), call),
            ]
        },
        commands: { call in
            [
                CommandLine.text(["due"]),
                CommandLine.text(["due", "list"], [("age", call.value("age")), ("app", call.value("app"))]),
            ]
        })

    private static let ages = ["1h", "6h", "24h", "3d", "older"]

    private static func around(_ call: PageCall) async throws -> PageList.Around {
        let speaker = call.speaker
        let due = try await call.ask("getDue", ["app": call.value("app")])
        var above = [SubPages.service("due", call)]
        if due.bool("alert") == true { above.append(.note(speaker.word("due_alert"), .bad)) }
        let table = PageTable(
            speaker.word("due_numbers"),
            [
                .text(speaker.word("age")), .number(speaker.word("unheard")), .number(speaker.word("imported")),
                .text(speaker.word("counted_at")),
            ],
            due.objects("ages").map { line in
                let age = line.string("age")
                return [
                    line.standing("age", of: "due_age").leading(to: Place("due", query: ["age": age])),
                    line.count("unheard"), line.count("imported"), line.at("countedAt"),
                ]
            }, empty: speaker.word("nothing_due"))
        above.append(.text(speaker.word("due_about")))
        above.append(.table(table))
        above.append(.facts(PageFacts([(speaker.word("due_day"), due.count("due"))])))
        return PageList.Around(above: above)
    }
}
