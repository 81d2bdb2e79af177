import APIKit
import AccountStore
import AppStorePayloads
import Base
import Staff

/// The forms of what a member of the staff may do for an account. Each leads to a page that says what will change, and does it from there.
struct ActForms: Sendable {
    private let call: PageCall
    private let speaker: Speaker
    private let token: String

    /// - Parameter token: the account's appAccountToken.
    init(_ call: PageCall, _ token: String) {
        self.call = call
        speaker = call.speaker
        self.token = token
    }

    /// Those that the member's role may do.
    func forms(_ account: JSONObject) async throws -> [PageForm] {
        var forms: [PageForm] = []
        let tiers = try await tiers()
        if call.may(.grant(days: 30)) {
            // Thirty days are what is given most often.
            forms.append(form("grant", [tier(Array(tiers.dropFirst())), days(call.sent("days") ?? "30")]))
        }
        if call.may(.extend(days: 7)), account.bool("hasAccess") == true {
            let byApple = PageForm.Field(
                "withApple", speaker.word("with_apple"), .check, call.sent("withApple"),
                hint: speaker.word("with_apple_about"))
            forms.append(form("extend", [days(call.sent("days") ?? "7"), byApple]))
        }
        if call.may(.changeTier) { forms.append(form("change-tier", [tier(tiers)])) }
        if call.may(.revoke), account.string("status") != "revoked" {
            forms.append(form("revoke", [], isDangerous: true))
        }
        if call.may(.unrevoke) { forms.append(form("unrevoke", [])) }
        let purchases = account.objects("purchases")
        if call.may(.movePurchase), !purchases.isEmpty { forms.append(move(purchases)) }
        return forms
    }

    private func form(_ what: String, _ fields: [PageForm.Field], isDangerous: Bool = false) -> PageForm {
        .act(
            speaker.word(of: "act", what), Place("customers", token, "act"), fields + Reason.fields(call),
            speaker.word("go_on"), about: speaker.word(of: "act_about", what), hidden: ["what": what],
            isDangerous: isDangerous)
    }

    /// A tier by its name where the member may see the catalog's, and typed otherwise.
    private func tier(_ tiers: [String]) -> PageForm.Field {
        guard !tiers.isEmpty else {
            return PageForm.Field(
                "tier", speaker.word("tier"), .line(most: 100), call.sent("tier"), isRequired: true)
        }
        return PageForm.Field(
            "tier", speaker.word("tier"), .choice(tiers.map { PageForm.Field.Choice($0, $0) }), call.sent("tier"),
            isRequired: true)
    }

    private func days(_ value: String) -> PageForm.Field {
        PageForm.Field("days", speaker.word("days"), .number(1...36_500), value, isRequired: true)
    }

    /// The tiers of the catalog, the lowest first; none where the member is staff of some apps, as accounts are of all.
    private func tiers() async throws -> [String] {
        guard try call.member.apps == nil else { return [] }
        return try await call.ask("getAccountStatistics").objects("tiers").compactMap { $0.string("tier") }
    }

    private func move(_ purchases: [JSONObject]) -> PageForm {
        let choices = purchases.compactMap { purchase -> PageForm.Field.Choice? in
            guard let id = purchase.string("originalTransactionId"), let app = purchase.string("bundleId") else {
                return nil
            }
            return PageForm.Field.Choice("\(app)/\(id)", "\(purchase.string("productId") ?? id) · \(id)")
        }
        var fields = [
            PageForm.Field("purchase", speaker.word("purchase"), .choice(choices), call.sent("purchase")),
            PageForm.Field(
                "to", speaker.word("new_owner"), .line(most: 1000), call.sent("to"), isRequired: true,
                hint: speaker.word("new_owner_about")),
        ]
        fields += Reason.fields(call)
        return .act(
            speaker.word("act.move"), Place("customers", token, "move"), fields, speaker.word("go_on"),
            about: speaker.word("act_about.move"), isDangerous: true)
    }
}
