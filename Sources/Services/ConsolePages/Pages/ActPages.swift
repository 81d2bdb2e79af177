import APIKit
import AppStorePayloads
import Base
import HTTPTypes

/// Acts for an account, in two steps: first a page that says what will change, by a dry run of the act itself; then the act.
enum ActPages {
    static var pages: [Page] {
        [
            .post("/customers/{account}/act", "act", in: .customers) { try await act($0) },
            .post("/customers/{account}/move", "move", in: .customers) { try await move($0) },
        ]
    }

    /// The endpoint of each act, and what it takes.
    private static let acts: [String: (endpoint: String, takes: Set<String>)] = [
        "grant": ("grantTier", ["tier", "days"]), "extend": ("extendAccount", ["days", "withApple"]),
        "change-tier": ("changeTier", ["tier"]), "revoke": ("revokeAccess", []), "unrevoke": ("unrevokeAccess", []),
    ]

    // MARK: For an account

    private static func act(_ call: PageCall) async throws -> PageOutcome {
        let token = call.part("account")
        do {
            let what = call.sent("what") ?? ""
            guard let act = acts[what] else { throw APIProblem(.invalidRequest, "there is no such act") }
            let isByApple = act.takes.contains("withApple") && call.sent("withApple") == "yes"
            var members = ["reason": JSONValue.string(try Reason.sent(call))]
            if act.takes.contains("tier") { members["tier"] = .string(call.sent("tier") ?? "") }
            if act.takes.contains("days") { members["days"] = .integer(try Number.sent("days", call)) }
            let path = ["account": "token:\(token)"]
            if call.sent("confirmed") == "yes" {
                if isByApple { members["withApple"] = .bool(true) }
                _ = try await call.send(act.endpoint, path: path, members.mapValues { Optional($0) })
                return .redirect(Place("customers", token, query: ["done": isByApple ? "extend-apple" : what]))
            }
            var would: JSONObject?
            if !isByApple {
                members["dryRun"] = .bool(true)
                would = try await call.send(act.endpoint, path: path, members.mapValues { Optional($0) })
            }
            return .page(review(what, would, call, token))
        } catch let problem as APIProblem where problem.isOfForm {
            return .page(try await CustomerPage(call).content(isOpened: false, problem))
        }
    }

    /// What will change, and the button that does it.
    private static func review(_ what: String, _ would: JSONObject?, _ call: PageCall, _ token: String) -> PageContent {
        let speaker = call.speaker
        var hidden = Reason.hidden(call)
        for name in ["what", "tier", "days", "withApple"] { hidden[name] = call.form[name] }
        hidden["confirmed"] = "yes"
        hidden["once"] = SentForms.number()
        let title = speaker.word(of: "act", what)
        var blocks: [Block] = []
        if let before = would?.object("before"), let after = would?.object("after") {
            blocks.append(.table(change(before, after, speaker)))
        } else {
            blocks.append(.note(speaker.word("apple_is_asked"), .calm))
        }
        let reason = (try? Reason.sent(call)) ?? ""
        blocks.append(
            .facts(
                PageFacts([
                    (speaker.word("account"), .words(would?.string("account") ?? String(token.prefix(8)))),
                    (speaker.word("reason"), .text(reason)),
                ])))
        blocks.append(
            .form(
                .act(
                    nil, Place("customers", token, "act"), [], title, about: speaker.word("confirm_about"),
                    hidden: hidden, isDangerous: what == "revoke", cancel: Place("customers", token))))
        return PageContent(title, blocks)
    }

    /// Before and after, beside each other.
    private static func change(_ before: JSONObject, _ after: JSONObject, _ speaker: Speaker) -> PageTable {
        func row(_ word: String, _ shown: (JSONObject) -> Shown) -> [Shown] {
            [.text(speaker.word(word)), shown(before), shown(after)]
        }
        return PageTable(
            speaker.word("will_change"),
            [.text(speaker.word("what")), .text(speaker.word("before")), .text(speaker.word("after"))],
            [
                row("tier") { $0.words("tier") }, row("status") { $0.standing("status", of: "account_status") },
                row("expires") { $0.at("expiresAt") },
            ], empty: "")
    }

    // MARK: For a purchase

    private static func move(_ call: PageCall) async throws -> PageOutcome {
        let token = call.part("account")
        let speaker = call.speaker
        do {
            let parts = (call.sent("purchase") ?? "").split(separator: "/", maxSplits: 1).map { String($0) }
            guard parts.count == 2, let to = call.sent("to") else {
                throw APIProblem(.invalidRequest, "name a purchase, and the account that gets it")
            }
            let path = ["originalTransactionId": parts[1]]
            var members: [String: JSONValue?] = [
                "environment": .string(speaker.environment), "app": .string(parts[0]), "account": .string(to),
                "reason": .string(try Reason.sent(call)),
            ]
            if call.sent("confirmed") == "yes" {
                let moved = try await call.send("movePurchase", path: path, members)
                return .redirect(
                    Place("customers", moved.string("appAccountToken") ?? token, query: ["done": "move"]))
            }
            members["dryRun"] = JSONValue.bool(true)
            let would = try await call.send("movePurchase", path: path, members)
            // An account that nothing is known of yet may get a purchase.
            let taker = try await call.find("getAccount", path: ["account": to])
            return .page(review(parts[1], would, isKnown: taker != nil, call, token))
        } catch let problem as APIProblem where problem.isOfForm {
            return .page(try await CustomerPage(call).content(isOpened: false, problem))
        }
    }

    /// What both accounts are, and what they would be.
    private static func review(
        _ purchase: String, _ would: JSONObject, isKnown: Bool, _ call: PageCall, _ token: String
    ) -> PageContent {
        let speaker = call.speaker
        let taker = would.string("appAccountToken")
        let sides = PageTable(
            speaker.word("both_sides"),
            [
                .text(speaker.word("account")), .text(speaker.word("what")), .text(speaker.word("tier")),
                .text(speaker.word("status")), .text(speaker.word("expires")),
            ],
            would.objects("sides").flatMap { side -> [[Shown]] in
                let own = side.string("appAccountToken")
                let word = speaker.word(own == taker ? "receives" : "gives_up")
                let name = Shown.text("\(word) · \(own.map { String($0.prefix(8)) } ?? "–")").leading(
                    to: own.map { Place("customers", $0) })
                return ["before", "after"].compactMap { when -> [Shown]? in
                    side[when]?.object.map { phase in
                        [
                            name, .text(speaker.word(when)), phase.words("tier"),
                            phase.standing("status", of: "account_status"), phase.at("expiresAt"),
                        ]
                    }
                }
            }, empty: speaker.word("nothing_changes"))
        var hidden = Reason.hidden(call)
        for name in ["purchase", "to"] { hidden[name] = call.form[name] }
        hidden["confirmed"] = "yes"
        hidden["once"] = SentForms.number()
        var blocks: [Block] = [
            .facts(PageFacts([(speaker.word("original_transaction"), .code(purchase))])), .table(sides),
        ]
        if !isKnown { blocks.append(.note(speaker.word("new_owner_unknown"), .warning)) }
        blocks.append(
            .form(
                .act(
                    nil, Place("customers", token, "move"), [], speaker.word("act.move"),
                    about: speaker.word("confirm_about"), hidden: hidden, isDangerous: true,
                    cancel: Place("customers", token))))
        return PageContent(speaker.word("act.move"), blocks)
    }
}
