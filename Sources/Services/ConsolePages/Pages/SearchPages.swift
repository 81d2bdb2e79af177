import APIKit
import AppStorePayloads
import Base

/// One box for everything. What is searched for may be a person's: it is sent by POST, and stands in no URL. One thing that is found has a place of
/// its own, by a number or a token. Several have the place of the stored search, whose id says nothing of the text.
enum SearchPages {
    static var pages: [Page] {
        [
            .post("/search", "search", in: nil) { try await search($0) },
            .get("/search/{id}", "found", in: nil) { .page(try await found($0)) },
            .post("/search/{id}", "found_opened", in: nil) { .page(try await found($0, isOpened: true)) },
        ]
    }

    private static func search(_ call: PageCall) async throws -> PageOutcome {
        guard let text = call.sent("text") else { return .redirect(Place()) }
        if text.uppercased().hasPrefix("RF-"),
            let request = try await call.find("getRefundRequest", path: ["id": text.uppercased()]),
            let number = request.string("number")
        {
            return .redirect(Place("refund-requests", number))
        }
        let search = try await call.send(
            "search", ["text": .string(text), "environment": .string(call.speaker.environment)])
        let places = search.objects("hits").map { place(of: $0, in: call.speaker.environment) }
        if search.bool("isElsewhere") == false, search.bool("isMore") == false, case let place?? = places.first,
            places.allSatisfy({ $0 == place })
        {
            return .redirect(place)
        }
        return .redirect(Place("search", search.string("id") ?? ""))
    }

    /// Where a thing is that was found: its order, or else its customer.
    private static func place(of hit: JSONObject, in searched: String) -> Place? {
        let own = hit.objects("places").compactMap { $0.string("environment") }
        let environment =
            hit.string("environment") ?? (own.contains(searched) ? searched : own.first ?? searched)
        if let order = hit.string("order") { return Place("orders", order, query: ["environment": environment]) }
        return CustomerPages.place(of: hit.string("customer"))?.with("environment", environment)
    }

    private static func found(_ call: PageCall, isOpened: Bool = false) async throws -> PageContent {
        let speaker = call.speaker
        let search = try await call.ask(
            "getSearch", path: ["id": call.part("id")], ["open": isOpened ? "true" : nil])
        let hits = search.objects("hits")
        var blocks: [Block] = []
        let others = (search.strings("otherEnvironments") ?? []).map { speaker.word(of: "environment", $0) }
        if !others.isEmpty {
            let names = ["environment": others.joined(separator: ", ")]
            let isElsewhere = search.bool("isElsewhere") == true
            blocks.append(
                .note(
                    isElsewhere ? speaker.word("found_elsewhere", names) : speaker.word("found_there_too", names),
                    .warning))
        }
        if search.bool("isMore") == true { blocks.append(.note(speaker.word("found_more"), .warning)) }
        if search.bool("isOrderOfApple") == true { blocks.append(.note(speaker.word("found_apple_order"), .calm)) }
        if hits.isEmpty, search.bool("knowsIDs") == false {
            blocks.append(.note(speaker.word("found_no_ids"), .calm))
        }
        blocks.append(.table(table(hits, in: search.string("environment") ?? speaker.environment, speaker)))
        let withText = hits.filter { $0.first(of: "account", "name", "mail") != nil }
        blocks += Opening.form(call, at: Place("search", call.part("id")), isOpened, if: withText)
        return PageContent(speaker.word("search_results"), blocks)
    }

    private static func table(_ hits: [JSONObject], in searched: String, _ speaker: Speaker) -> PageTable {
        PageTable(
            speaker.word("search_results"),
            [
                .text(speaker.word("what")), .text(speaker.word("customer")), .text(speaker.word("order")),
                .text(speaker.word("product_id")), .text(speaker.word("original_transaction")),
                .text(speaker.word("purchased")), .text(speaker.word("app")), .text(speaker.word("environment")),
            ],
            hits.map { row(of: $0, in: searched) }, empty: speaker.word("nothing_found"))
    }
    private static func row(of hit: JSONObject, in searched: String) -> [Shown] {
        let customer = CustomerPages.place(of: hit.string("customer"))
        var names = ["account", "name", "mail"].compactMap { hit[$0]?.string }
        if names.isEmpty, let token = customer?.parts.last { names = [String(token.prefix(8))] }
        return [
            hit.standing("kind", of: "hit").leading(to: place(of: hit, in: searched)),
            Shown.all(names.map { .text($0) }).leading(to: customer), hit.words("order"), hit.id("productId"),
            hit.id("originalTransactionId"), hit.at("purchasedAt"), hit.words("bundleId"),
            hit.standing("environment", of: "environment"),
        ]
    }
}
