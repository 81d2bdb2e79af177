import AppStorePayloads
import Base

/// Accounts that lose their access soon, the next first.
enum ExpiringPages {
    static var pages: [Page] {
        list.pages("expiring", in: .customers) { PageList.Around(above: [SubPages.customers("expiring", $0)]) }
    }

    private static let list = PageList(
        endpoint: "listExpiringAccounts", rows: "accounts", place: "expiring", filters: ["days"], texts: ["account"],
        empty: { $0.word("no_accounts") },
        columns: { speaker in
            [
                .text(speaker.word("account")), .text(speaker.word("access_until")), .number(speaker.word("days_left")),
                .text(speaker.word("status")), .text(speaker.word("tier")), .text(speaker.word("source")),
                .text(speaker.word("product_id")), .text(speaker.word("app")),
            ]
        },
        row: { account, _ in
            let token = account.string("appAccountToken")
            let name = account.string("account") ?? token.map { String($0.prefix(8)) }
            return [
                Shown.words(name).leading(to: token.map { Place("customers", $0) }), account.at("accessUntil"),
                account.count("daysLeft"), account.standing("status", of: "account_status"), account.words("tier"),
                account.standing("source", of: "account_source"), account.id("productId"), account.words("bundleId"),
            ]
        },
        fields: { call in
            [
                PageForm.Field(
                    "days", call.speaker.word("ending_within"), .number(0...3650), call.value("days"),
                    hint: call.speaker.word("expiring_about"))
            ]
        },
        commands: { call in
            [
                CommandLine.text(
                    ["account", "expiring"],
                    [("days", call.value("days")), ("environment", call.speaker.environment)])
            ]
        })
}
