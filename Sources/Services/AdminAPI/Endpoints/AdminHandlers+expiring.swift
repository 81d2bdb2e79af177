import APIKit
import AccountStore
import AppStorePayloads
import Base
import HTTPTypes
import Staff

extension AdminHandlers {
    /// Accounts that lose their access soon, the next first.
    var expiringList: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/expiring", "listExpiringAccounts",
            "Accounts that lose their access within some days, with nothing to renew it, the next first.", for: .staff,
            successes: [
                expiringPages(nil, "", nil, .all).success("ExpiringAccountPage", "A page of accounts.")
            ]
        ) { try await answerExpiring($0) }
        endpoint.query =
            AdminList<ShownExpiringAccount>.query + Opening.query + [
                .init(
                    "days", .integer(0...3650),
                    "Within so many days of 24 hours; the catalog's warning_days by default."),
                .init("environment", Environment.schema, "Production by default."),
            ]
        endpoint.problems = [.noCatalog]
        endpoint.refusesFitting = "after is next of a page before, a file of opened texts has a reason"
        return endpoint
    }

    private func answerExpiring(_ request: AdminRequest) async throws -> APIAnswer {
        let member = try await member(request, for: .read)
        let hasAccounts = try await hasAccounts(member)
        var apps: [String]?
        if !hasAccounts, case .some(let own) = member.scope { apps = own.sorted() }
        do {
            return try await expiringPages(
                request.query["days"].flatMap { Int($0) },
                request.query["environment"] ?? Environment.production.rawValue, apps, member.scope
            ).answer(request, self)
        } catch let refusal as ActRefusal { throw refusal.problem }
    }

    private func expiringPages(
        _ days: Int?, _ environment: String, _ apps: [String]?, _ scope: StaffScope
    ) -> AdminList<ShownExpiringAccount> {
        AdminList(
            name: "accounts", shape: AdminShapes.expiringAccount, subject: ("accounts", "expiring"),
            cursorParts: AccountStore.expiringCursorParts, takes: { AccountStore.isExpiringCursor($0) },
            openedTexts: { $0.openedTexts }
        ) { [accounts] opening, cursor, limit in
            try await accounts.expiring(
                within: days, in: environment, of: apps, after: cursor, limit: limit,
                lookingThrough: AccountStore.mostExpiringLookedThrough
            ).accounts.map { ShownExpiringAccount($0, opening, to: scope) }
        }
    }
}

extension AdminShapes {
    fileprivate static let expiringAccount = Shape<ShownExpiringAccount, Void>(
        "ExpiringAccount",
        [
            .init("account", "Its id in the app's own tokens, shortened unless it is opened.") { $0.name },
            .init("appAccountToken") { $0.account.token }, .init("tier") { $0.account.tier },
            .init("status") { $0.account.status }, .init("source", "What gives it access.") { $0.account.source },
            .init("productId") { $0.isPurchaseShown ? $0.account.productID : nil },
            .init("bundleId") { $0.isPurchaseShown ? $0.account.bundleID : nil },
            .init("accessUntil") { $0.account.accessUntil },
            .init("daysLeft", "A day that has begun counts.") { $0.account.daysLeft },
        ])
}
