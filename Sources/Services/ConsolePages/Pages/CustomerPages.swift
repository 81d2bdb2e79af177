import Accounts
import AppStorePayloads
import Base

/// Customers: the list of accounts, its file, and each account with what it has and why.
enum CustomerPages {
    static var pages: [Page] {
        [
            .get("/customers", "customers", in: .customers) { .page(try await list($0)) },
            .post("/customers", "customers_opened", in: .customers) { .page(try await list($0, isOpened: true)) },
            .get("/customers.csv", "customers_file", in: .customers) {
                try await $0.file("listAccounts", $0.kept(filters))
            },
            .get("/customers/{account}", "customer", in: .customers) { .page(try await CustomerPage($0).content()) },
            .post("/customers/{account}", "customer_opened", in: .customers) {
                .page(try await CustomerPage($0).content(isOpened: true))
            },
        ]
    }

    /// The place of a customer, whom answers name by `token:` and the appAccountToken; nil for none.
    static func place(of reference: String?) -> Place? {
        guard let reference, reference.hasPrefix("token:") else { return nil }
        return Place("customers", String(reference.dropFirst("token:".count)))
    }

    private static let filters = ["status", "tier", "product", "app", "endingWithin", "erased"]

    private static func list(_ call: PageCall, isOpened: Bool = false) async throws -> PageContent {
        let speaker = call.speaker
        let kept = call.kept(filters)
        var query = kept
        query["after"] = .some(call.value("after"))
        if isOpened { query["open"] = "true" }
        let page = try await call.ask("listAccounts", query)
        let accounts = page.objects("accounts")
        let title = speaker.word(of: "section", Section.customers.rawValue)
        var listed = PageTable(
            title,
            [
                .text(speaker.word("account")), .text(speaker.word("status")), .text(speaker.word("tier")),
                .text(speaker.word("source")), .text(speaker.word("product")), .text(speaker.word("expires")),
                .text(speaker.word("renews")), .text(speaker.word("since")),
            ], accounts.map { row(of: $0) }, empty: speaker.word("no_accounts"))
        listed.next = page.string("next").map { Place("customers", query: kept).with("after", $0) }
        listed.file = Place("customers.csv", query: kept)
        let here = Place("customers", query: call.kept(filters + ["after"]))
        var blocks: [Block] = [SubPages.customers("customers", call), .form(filter(call)), .table(listed)]
        blocks += Opening.form(call, at: here, isOpened, if: accounts.filter { $0.string("account") != nil })
        return PageContent(title, blocks, commands: [command(call)])
    }

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

    private static func filter(_ call: PageCall) -> PageForm {
        let speaker = call.speaker
        let erased = [
            PageForm.Field.Choice("", speaker.word("no")), PageForm.Field.Choice("true", speaker.word("yes")),
        ]
        return .filter(
            Place("customers"),
            [
                .states(
                    "status", speaker.word("status"), "account_status", AccountStatus.allCases.map(\.rawValue),
                    call.value("status"), speaker),
                .line("tier", speaker.word("tier"), call.value("tier"), most: 100),
                .line("product", speaker.word("product"), call.value("product")),
                .line("app", speaker.word("app"), call.value("app")),
                PageForm.Field(
                    "endingWithin", speaker.word("ending_within"), .number(0...3650), call.value("endingWithin")),
                PageForm.Field("erased", speaker.word("erased"), .choice(erased), call.value("erased")),
            ], speaker.word("filter"))
    }
}
