import AccountAPI
import Accounts
import AppStorePayloads
import AppStoreServerAPI
import AppleSync
import EvidenceStore
import Foundation
import Postgres
import Simulation
import StandInSupport
import TestSupport
import Testing

@testable import APIKit

/// Runs a stand-in whose day was yesterday, and an account API that asks it.
func withReceiptShop(
    key: Bool = true, secret: Bool = false, mostNewReceipts: Int = 50,
    _ body: @escaping @Sendable (Shop, RunningStandIn) async throws -> Void
) async throws {
    try await RunningStandIn.with(StandInConfiguration(daysBehind: 1)) { standIn in
        let apple = ShopsApple(
            server: key ? standIn.client : nil, receipts: secret ? standIn.receipts : nil)
        try await Shop.open(
            signedBy: standIn.access.authority, asking: apple, mostNewReceipts: mostNewReceipts
        ) { shop in
            try await body(shop, standIn)
        }
    }
}

/// What a customer bought at the stand-in, as their device knows it.
struct BoughtReceipt: Sendable {
    static let monthly = "com.example.storehook.basic.monthly"
    static let lifetime = "com.example.storehook.lifetime.unlock"

    var customer: String
    var original: String
    var transaction: String
    var signed: String
    var receipt: String
}

extension RunningStandIn {
    func buy(
        _ product: String = BoughtReceipt.monthly, for account: String? = nil, customer: String? = nil,
        in environment: String = "Production"
    ) async throws -> BoughtReceipt {
        var body = #"{"productId":"\#(product)","environment":"\#(environment)""#
        if let account {
            body += #","appAccountToken":"\#(AccountToken.of(account))""#
        }
        if let customer { body += #","customer":"\#(customer)""# }
        let sold = try await shop("purchases", body + "}")
        return BoughtReceipt(
            customer: try #require(sold.string("customer")),
            original: try #require(sold.string("originalTransactionId")),
            transaction: try #require(sold.string("transactionId")),
            signed: try #require(sold.string("signedTransactionInfo")),
            receipt: try #require(sold.string("receiptData")))
    }
}

extension Shop {
    /// Hands a receipt in for an account.
    /// - Parameter more: members of the body beside it, each after a comma.
    func verify(receipt: String, as account: String, _ more: String = "") async throws -> Answer {
        try await post("/v1/subscriptions/verify", as: account, #"{"receiptData":"\#(receipt)"\#(more)}"#)
    }

    func books() async throws -> Conservation { try await Outbox(api.observer).conservation(audit: true) }

    func count(_ query: PostgresQuery) async throws -> Int64 { try await api.observer.query(query).one().decode(0) }
}
