import AppStorePayloads
import AuditStore
import Base
import Foundation
import OrderStore
import OrderSupport
import Postgres
import PurchaseStore
import Staff
import Subscriptions

extension OrderDatabase {
    var refunds: RefundRequests { RefundRequests(pool) }

    /// A month of 9.99 that is running, with its order's number.
    @discardableResult
    func month(
        _ original: String = "100", price: Int64? = 9_990, _ change: (inout TransactionPayload) -> Void = { _ in }
    ) async throws -> String {
        try await apply([Self.month(original, price: price, change)])
        try await number()
        return try await self.order(original)
    }

    static func month(
        _ original: String, price: Int64? = 9_990, signed: Timestamp? = nil,
        _ change: (inout TransactionPayload) -> Void = { _ in }
    ) -> LedgerEntry {
        Shop.entry(original, at: now.adding(days: -10), price: price, signed: signed, change)
    }

    /// Apple refunds a share of it, in thousandths of a percent; 0 reverses it.
    static func refund(_ original: String, _ share: Int64, after hours: Int64) -> LedgerEntry {
        let at = now.adding(seconds: hours * 3_600)
        return month(original, signed: at) { payload in
            guard share > 0 else { return }
            payload.revocationDate = at
            payload.revocationPercentage = share
        }
    }

    func order(_ original: String) async throws -> String {
        try await value(
            "select storehook.order_number(day, number) from storehook.booked_orders where order_key = \(original)")
    }

    func request(_ number: RefundNumber) async throws -> RecordedRefundRequest? { try await refunds.show(number) }

    /// Each act on record: actor and act.
    func acts() async throws -> [String] {
        try await AuditLog(pool).rows(after: 0, through: .max).filter { $0.subjectKind == "refund_request" }
            .map { "\($0.actor) \($0.act)" }
    }
}

/// The test's own now, in whole seconds.
let now = Timestamp(secondsSince1970: Int64(Date.now.timeIntervalSince1970))

let anna = StaffActor(name: "cli:anna", role: .admin)
let ben = StaffActor(name: "cli:ben", role: .admin)
