import AppStorePayloads
import Base

/// What happened to a purchase, and each notification in it, decoded and as it came.
enum StoryPages {
    static var pages: [Page] {
        [
            .get("/purchases/{id}/story", "story", in: .customers) { .page(try await story($0)) },
            .get("/notifications/{uuid}", "notification", in: .customers) { .page(try await notification($0)) },
        ]
    }

    /// The place of a purchase's story; nil without a purchase.
    static func place(of purchase: String?, app: String?) -> Place? {
        purchase.map { Place("purchases", $0, "story", query: ["app": app]) }
    }

    private static func story(_ call: PageCall) async throws -> PageContent {
        let (speaker, id) = (call.speaker, call.part("id"))
        let answer = try await call.ask(
            "getStory", path: ["originalTransactionId": id], ["app": call.value("app")])
        var blocks: [Block] = [
            .links([PageLink(speaker.word("order"), Place("orders", query: ["search": id]))]),
            .text(speaker.word("story_about")),
        ]
        for purchase in answer.objects("purchases") {
            blocks.append(.table(table(purchase, speaker)))
        }
        return PageContent(
            "\(speaker.word("story")) \(id)", blocks,
            commands: [CommandLine.text(["subscription", id], [("at", speaker.instant?.description)])])
    }

    private static func table(_ purchase: JSONObject, _ speaker: Speaker) -> PageTable {
        PageTable(
            "\(purchase.string("bundleId") ?? "–") · \(speaker.word(of: "environment", purchase.string("environment") ?? ""))",
            [
                .text(speaker.word("signed_at")), .text(speaker.word("what")), .text(speaker.word("status")),
                .text(speaker.word("notification")), .text(speaker.word("transaction")),
                .text(speaker.word("came_by")), .text(speaker.word("received")), .text(speaker.word("event")),
            ], purchase.objects("entries").map { row(of: $0, speaker) }, empty: speaker.word("nothing_yet"))
    }

    private static func row(of entry: JSONObject, _ speaker: Speaker) -> [Shown] {
        let type = [entry.string("type"), entry.string("subtype")].compactMap(\.self).joined(separator: " ")
        let notification = Shown.words(type.isEmpty ? nil : type).leading(
            to: entry.string("notification").map { Place("notifications", $0) })
        let (before, after) = (entry.string("statusBefore"), entry.string("statusAfter"))
        var states: [Shown] = []
        if let before, before != after { states.append(.state("purchase_status", before)) }
        if let after { states.append(.state("purchase_status", after)) }
        let way = [entry.words("kind"), entry.words("source")].filter { $0 != .nothing }
        return [
            entry.at("signedAt"), entry.words("words"), .all(states), notification, entry.id("transactionId"),
            .all(way), entry.at("receivedAt"), .all(entry.objects("events").flatMap { events(of: $0, speaker) }),
        ]
    }

    /// An event, and where it was delivered.
    private static func events(of event: JSONObject, _ speaker: Speaker) -> [Shown] {
        [event.words("kind")] + deliveries(of: event, speaker)
    }

    /// Where an event was delivered, each leading to its page.
    static func deliveries(of event: JSONObject, _ speaker: Speaker) -> [Shown] {
        event.objects("deliveries").map { delivery in
            let outcome = speaker.word(of: "delivery_outcome", delivery.string("outcome") ?? "")
            let number = delivery.integer("endpoint") ?? 0
            return Shown.text("\(speaker.word("endpoint")) \(number): \(outcome)").leading(
                to: delivery.integer("id").map { Place("deliveries", "\($0)") })
        }
    }

    // MARK: One notification

    private static func notification(_ call: PageCall) async throws -> PageContent {
        let (speaker, uuid) = (call.speaker, call.part("uuid"))
        let found = try await call.ask("getNotification", path: ["uuid": uuid])
        let purchase = found.string("originalTransactionId")
        var facts: [(label: String, value: Shown)] = []
        func add(_ word: String, _ value: Shown) { facts.append((speaker.word(word), value)) }
        add("type", found.words("type"))
        add("subtype", found.words("subtype"))
        add("notification", found.id("notificationUUID"))
        add("app", found.words("bundleId"))
        add("environment", found.standing("environment", of: "environment"))
        add("original_transaction", Shown.id(purchase).leading(to: place(of: purchase, app: found.string("bundleId"))))
        add("came_by", found.words("source"))
        add("outcome", found.words("outcome"))
        add("signed_at", found.at("signedAt"))
        add("received", found.at("receivedAt"))
        add("applied", found.at("appliedAt"))
        return PageContent(
            "\(speaker.word("notification")) \(found.string("type") ?? uuid)",
            [.facts(PageFacts(facts))] + LetterPage.said(found, speaker),
            commands: [
                CommandLine.text(["notification", uuid]), CommandLine.text(["notification", uuid, "--raw"]),
            ])
    }
}
