package import AppStorePayloads
package import AppStoreServerAPI
package import Base

extension AppleAnswer {
    /// Transactions, as history, refunds and orders list them.
    package init(
        transactions pages: [TransactionsPage], from environment: Environment, missing: MissingPages? = nil
    ) {
        let records = pages.flatMap(\.transactions)
        self.init(
            environment,
            [.init("transactions", .array(records.map { .written($0.payload.json) }))]
                + Self.refundReasons(records.map(\.payload)),
            unknown: pages.last?.unknownFields ?? [:], refused: pages.flatMap(\.refused),
            missing: missing, text: Self.table(records.map(\.payload), "no transactions") + "\n\(environment)")
    }

    /// One transaction.
    package init(transaction record: SignedRecord<TransactionPayload>, from environment: Environment) {
        self.init(
            environment,
            [.init("transaction", .written(record.payload.json))] + Self.refundReasons([record.payload]),
            text: Self.table([record.payload], "") + "\n\(environment)")
    }

    /// A customer's download of the app.
    package init(appTransaction record: SignedRecord<AppTransactionPayload>, from environment: Environment) {
        let payload = record.payload
        let rows: [(String, String?)] = [
            ("app transaction", payload.appTransactionId), ("app", payload.bundleId),
            ("bought", payload.originalPurchaseDate.map { "\($0)" }),
            ("first version", payload.originalApplicationVersion), ("version", payload.applicationVersion),
            ("platform", payload.originalPlatform), ("environment", "\(environment)"),
        ]
        self.init(environment, [.init("app_transaction", .written(payload.json))], text: CommandAnswer.lines(rows))
    }

    /// The purchases behind an order number.
    package init(order: OrderLookup, from environment: Environment) {
        let isValid = order.status == .valid
        self.init(
            environment,
            [
                .init("status", .integer(Int64(order.status.rawValue))),
                .init("transactions", .array(order.transactions.map { .written($0.payload.json) })),
            ] + Self.refundReasons(order.transactions.map(\.payload)), unknown: order.unknownFields,
            refused: order.refused,
            text: isValid
                ? Self.table(order.transactions.map(\.payload), "an order without in-app purchases")
                : "no order of this app's: check the number, it is on the customer's receipt from Apple")
    }

    /// A customer's subscriptions.
    package init(statuses: SubscriptionStatuses, from environment: Environment) {
        var table = Table(["SUBSCRIPTION", "GROUP", "PRODUCT", "APPLE SAYS", "EXPIRES", "RENEWS", "ACCOUNT TOKEN"])
        for group in statuses.groups {
            for line in group.lastTransactions {
                let transaction = line.transaction?.payload
                let renewal = line.renewal?.payload
                table.add([
                    line.originalTransactionId ?? "-", group.subscriptionGroupIdentifier ?? "-",
                    transaction?.productId ?? "-", line.status.map(Self.words) ?? "-",
                    transaction?.expiresDate.map { "\($0)" } ?? "-",
                    renewal?.autoRenewStatus.map { $0 == .on ? "yes" : "no" } ?? "-",
                    transaction?.appAccountToken.map { "\($0)" } ?? "-",
                ])
            }
        }
        let lines = statuses.groups.flatMap { group in
            group.lastTransactions.map { line -> JSONValue in
                [
                    "subscription_group_id": .text(group.subscriptionGroupIdentifier),
                    "original_transaction_id": .text(line.originalTransactionId),
                    "apple_status": (line.status?.rawValue).json,
                    "transaction": .written(line.transaction?.payload.json),
                    "renewal": .written(line.renewal?.payload.json),
                ]
            }
        }
        self.init(
            environment,
            [.init("subscriptions", .array(lines))]
                + Self.refundReasons(
                    statuses.groups.flatMap { $0.lastTransactions.compactMap { $0.transaction?.payload } }),
            unknown: statuses.unknownFields,
            refused: statuses.refused, text: (lines.isEmpty ? "no subscriptions" : table.text) + "\n\(environment)")
    }

    private static func words(_ status: AppleStatus) -> String {
        switch status {
        case .active: "active"
        case .expired: "expired"
        case .billingRetry: "billing retry"
        case .gracePeriod: "grace period"
        case .revoked: "revoked"
        default: "\(status.rawValue)"
        }
    }

    /// `refund_reasons`: why Apple refunded, by transaction: the payloads, which are Apple's, have a number there. Nothing where nothing
    /// was refunded.
    private static func refundReasons(_ transactions: [TransactionPayload]) -> [JSONValue.Member] {
        var reasons: [String: String] = [:]
        for one in transactions where one.revocationDate != nil {
            reasons[one.transactionId] = one.revocationReason?.word
        }
        guard !reasons.isEmpty else { return [] }
        let members = reasons.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .string($0.value)) }
        return [.init("refund_reasons", .object(members))]
    }

    private static func table(_ transactions: [TransactionPayload], _ nothing: String) -> String {
        guard !transactions.isEmpty else { return nothing }
        var table = Table(
            ["TRANSACTION", "ORIGINAL", "PRODUCT", "PURCHASED", "EXPIRES", "PRICE", "REVOKED"], numeric: [5])
        for one in transactions {
            table.add([
                one.transactionId, one.originalTransactionId, one.productId ?? "-",
                one.purchaseDate.map { "\($0)" } ?? "-", one.expiresDate.map { "\($0)" } ?? "-",
                one.price.map { "\(money($0)) \(one.currency ?? "")" } ?? "-",
                one.revocationDate.map { "\($0)" + (one.revocationReason.map { ", \($0.words)" } ?? "") } ?? "-",
            ])
        }
        return table.text
    }

    /// Thousandths of the unit, with as many decimals as there are, two at least.
    private static func money(_ milliunits: Int64) -> String {
        let (units, rest) = milliunits.quotientAndRemainder(dividingBy: 1000)
        let digits = String(1000 + abs(rest)).dropFirst()
        return (milliunits < 0 && units == 0 ? "-" : "")
            + "\(units).\(digits.hasSuffix("0") ? digits.dropLast() : digits)"
    }
}
