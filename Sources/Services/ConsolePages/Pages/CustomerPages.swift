import Accounts
import AdminAPI
import AppStorePayloads
import Base

/// Customers: the list of accounts, its file, and each account with what it has and why.
enum CustomerPages {
    static var pages: [Page] {
        let others: [Page] = [
            .get("/customers/{account}", "customer", in: .customers) { .page(try await CustomerPage($0).content()) },
            .post("/customers/{account}", "customer_opened", in: .customers) {
                .page(try await CustomerPage($0).content(isOpened: true))
            },
        ]
        return list.pages("customers", in: .customers) {
            PageList.Around(above: [SubPages.customers("customers", $0)])
        } + others
    }

    /// The place of a customer, as answers refer to one: `token:` and the appAccountToken. Nil for none.
    static func place(of reference: String?) -> Place? {
        guard let reference, reference.hasPrefix("token:") else { return nil }
        return Place("customers", String(reference.dropFirst("token:".count)))
    }

    private static let list = PageList(
        endpoint: "listAccounts", rows: "accounts", place: "customers", section: .customers,
        filters: ["status", "tier", "product", "app", "endingWithin", "erased"], saved: .accounts,
        texts: ["account"], empty: { $0.word("no_accounts") },
        columns: { speaker in
            [
                .text(speaker.word("account")), .text(speaker.word("status")), .text(speaker.word("tier")),
                .text(speaker.word("source")), .text(speaker.word("product")), .text(speaker.word("expires")),
                .text(speaker.word("renews")), .text(speaker.word("since")),
            ]
        }, row: { account, _ in row(of: account) }, fields: { fields($0) }, commands: { [command($0)] })

    private static func row(of account: JSONObject) -> [Shown] {
        let token = account.string("appAccountToken")
        let name = account.string("account") ?? token.map { String($0.prefix(8)) }
        return [
            Shown.words(name).leading(to: token.map { Place("customers", $0) }),
            account.standing("status", of: "account_status"), account.words("tier"),
            account.standing("source", of: "account_source"), account.id("productId"), account.at("expiresAt"),
            account.whether("willRenew"), account.at("since"),
        ]
    }

    private static func command(_ call: PageCall) -> String {
        CommandLine.text(
            ["accounts", "list"] + (call.value("erased") == "true" ? ["--erased"] : []),
            [
                ("status", call.value("status")), ("tier", call.value("tier")), ("product", call.value("product")),
                ("app", call.value("app")), ("ending-within", call.value("endingWithin")),
                ("environment", call.speaker.environment),
            ])
    }

    private static func fields(_ call: PageCall) -> [PageForm.Field] {
        let speaker = call.speaker
        let erased = [
            PageForm.Field.Choice("", speaker.word("no")), PageForm.Field.Choice("true", speaker.word("yes")),
        ]
        return [
            .states(
                "status", speaker.word("status"), "account_status", AccountStatus.allCases.map(\.rawValue),
                call.value("status"), speaker),
            .line("tier", speaker.word("tier"), call.value("tier"), most: 100),
            .line("product", speaker.word("product"), call.value("product")),
            .line("app", speaker.word("app"), call.value("app")),
            PageForm.Field(
                "endingWithin", speaker.word("ending_within"), .number(0...3650), call.value("endingWithin")),
            PageForm.Field("erased", speaker.word("erased"), .choice(erased), call.value("erased")),
        ]
    }
}
