import AppStorePayloads
import AuditStore
import Base
import Foundation
import OrderStore
import OrderSupport
import Postgres
import Staff
import Subscriptions
import TestSupport
import Testing

/// The flow of refund requests against what Apple signs, in PostgreSQL.
struct RefundFlowTests {
    @Test func `A request is made of the latest paid transaction, and approved`() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            let order = try await site.month()
            try await site.apply([
                Shop.entry(
                    "100", "101", at: now.adding(days: 20), renewal: true, first: now.adding(days: -10), signed: now)
            ])
            let made = try await site.refunds.create(.full, order: order.lowercased(), why: "charged twice", by: anna)
            #expect(made.number.description == "RF-001" && made.order == order && made.transactionID == "101")
            #expect(made.request.state == .pending && made.request.requested == 9_990 && made.maxRefundable == 9_990)
            #expect(made.reason == "charged twice" && made.requester == "cli:anna" && made.currency == "USD")
            let first = try await site.refunds.create(
                .partial, amount: 4_000, order: order, transaction: "100", why: "half", by: ben)
            #expect(first.number.description == "RF-002" && first.transactionID == "100")
            let decided = try await site.refunds.approve(first.number, amount: 3_000, note: "a third", by: anna)
            #expect(decided.recorded.request.approved == 3_000 && decided.recorded.note == "a third")
            #expect(decided.recorded.request.decider == "cli:anna" && decided.answeredAt == nil)
            #expect(
                try await site.acts() == [
                    "cli:anna create_refund_request", "cli:ben create_refund_request",
                    "cli:anna approve_refund_request",
                ])
            let row = try #require(try await AuditLog(site.pool).rows(after: 0, through: .max).last)
            #expect(row.subject == "RF-002" && row.app == Shop.app && row.environment == "Production")
            #expect(row.before?.contains(#""state": "pending""#) == true)
            #expect(row.after?.contains(#""approved": 3000"#) == true && row.text.members == ["note": "a third"])
            #expect(
                try await site.texts(
                    "select number || ' ' || order_number || ' ' || state || ' ' || requested from storehook.refund_requests order by 1"
                ) == ["RF-001 \(order) pending 9990", "RF-002 \(order) approved 4000"])
        }
    }

    @Test func `Apple refunds a pending, an approved, a rejected and a cancelled one`() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            var numbers: [RefundNumber] = []
            for purchase in ["100", "200", "300", "400"] {
                let order = try await site.month(purchase)
                numbers.append(try await site.refunds.create(.full, order: order, why: "why", by: anna).number)
            }
            _ = try await site.refunds.approve(numbers[1], by: ben)
            _ = try await site.refunds.reject(numbers[2], note: "used", by: ben)
            _ = try await site.refunds.cancel(numbers[3], note: "mistake", by: ben)
            let acts = try await site.acts()
            try await site.apply(["100", "200", "300", "400"].map { OrderDatabase.refund($0, 50_000, after: 1) })
            var found: [RecordedRefundRequest] = []
            for number in numbers { found.append(try #require(try await site.request(number))) }
            #expect(found.map(\.request.state) == [.cancelled, .processed, .rejected, .cancelled])
            #expect(found.map(\.request.decider) == ["apple", "cli:ben", "cli:ben", "cli:ben"])
            #expect(found.allSatisfy { $0.request.refundedByApple?.amount == 4_995 && $0.maxRefundable == 4_995 })
            #expect(found.allSatisfy { $0.request.refundedByApple?.at == now.adding(seconds: 3_600) })
            #expect(found.map(\.request.difference) == [nil, -4_995, nil, nil])
            #expect(try await site.acts() == acts, "what Apple does is no act of staff")
            // A rise later is another's.
            try await site.apply(["100", "200"].map { OrderDatabase.refund($0, 80_000, after: 2) })
            #expect(try await site.request(numbers[1])?.request.refundedByApple?.amount == 4_995)
        }
    }

    @Test func `A refund from before counts for nothing, and its reversal afterwards is noted`() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            let order = try await site.month()
            try await site.apply([OrderDatabase.refund("100", 30_000, after: -48)])
            let made = try await site.refunds.create(.full, order: order, why: "the rest", by: anna)
            #expect(made.request.requested == 6_993 && made.request.before.share == 30_000)
            _ = try await site.refunds.approve(made.number, by: anna)
            // The same once more, as history has it.
            try await site.apply([OrderDatabase.refund("100", 30_000, after: -47)])
            #expect(try await site.request(made.number)?.request.state == .approved)
            try await site.apply([OrderDatabase.refund("100", 100_000, after: 1)])
            let processed = try #require(try await site.request(made.number))
            #expect(processed.request.state == .processed && processed.request.difference == 0)
            #expect(processed.maxRefundable == 0)
            await #expect(throws: RefundRefusal.nothingLeft) {
                try await site.refunds.create(.full, order: order, why: "again", by: anna)
            }
            // Apple reverses with a record that has no refund, by itself and without any notification's type.
            try await site.apply([OrderDatabase.refund("100", 0, after: 2)])
            let reversed = try #require(try await site.request(made.number))
            #expect(reversed.request.state == .processed && reversed.maxRefundable == 9_990)
            #expect(reversed.request.reversedAt == now.adding(seconds: 7_200))
            _ = try await site.refunds.create(.full, order: order, why: "again", by: anna)
        }
    }

    @Test func `One request about a transaction is open`() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            let order = try await site.month()
            let first = try await site.refunds.create(.full, order: order, why: "why", by: anna)
            await #expect(throws: RefundRefusal.openRequest(first.number)) {
                try await site.refunds.create(.full, order: order, why: "why", by: anna)
            }
            _ = try await site.refunds.approve(first.number, by: anna)
            await #expect(throws: RefundRefusal.openRequest(first.number)) {
                try await site.refunds.create(.full, order: order, why: "why", by: anna)
            }
            _ = try await site.refunds.record(
                first.number, .init(reference: "bank 7", amount: 5_000, at: now), by: anna)
            let second = try await site.refunds.create(.full, order: order, why: "why", by: anna)
            _ = try await site.refunds.reject(second.number, note: "no", by: anna)
            let third = try await site.refunds.create(.full, order: order, why: "why", by: anna)
            _ = try await site.refunds.cancel(third.number, note: "no", by: anna)
            let recorded = try #require(try await site.request(first.number))
            #expect(recorded.request.state == .processed && recorded.request.elsewhere?.reference == "bank 7")
            #expect(recorded.maxRefundable == 9_990, "Apple has refunded nothing")
            let acts = try await site.acts()
            #expect(acts.suffix(1) == ["cli:anna cancel_refund_request"] && acts.contains("cli:anna record_refund"))
        }
    }

    @Test func `Prorated is computed at the instant of the approval, of terms by the catalog`() async throws {
        let catalog = """
            app: \(Shop.app)
            tiers: [{id: free}, {id: pro}]
            products:
              - {id: basic, product_id: basic, tier: pro, period: month}
              - {id: pass, product_id: pass, tier: pro, period: term, lasts: 20}
            """
        try await OrderDatabase.with(catalog: catalog) { site in
            let order = try await site.month()
            try await site.apply([
                Shop.entry(
                    "500", at: now.adding(days: -5), days: nil, product: "pass", kind: .nonRenewingSubscription,
                    price: 20_000),
                Shop.entry(
                    "600", at: now.adding(days: -5), days: nil, product: "unsold", kind: .nonRenewingSubscription),
                Shop.coins("700", at: now.adding(days: -5)),
            ])
            try await site.number()
            let month = try await site.refunds.create(.prorated, order: order, why: "why", by: anna)
            let decided = try await site.refunds.approve(month.number, by: anna).recorded.request
            let left = try #require(decided.decidedAt).milliseconds(since: now.adding(days: 20))
            let length: Int64 = 30 * 86_400_000
            #expect(decided.approved == (9_990 * -left * 2 + length) / (length * 2))
            let pass = try await site.refunds.create(.prorated, order: site.order("500"), why: "why", by: anna)
            let term = try await site.refunds.approve(pass.number, by: anna).recorded.request
            let passLeft = now.adding(days: 15).milliseconds(since: try #require(term.decidedAt))
            #expect(term.approved == (20_000 * passLeft * 2 + 20 * 86_400_000) / (2 * 20 * 86_400_000))
            for purchase in ["600", "700"] {
                let order = try await site.order(purchase)
                await #expect(throws: RefundRefusal.noTerm) {
                    try await site.refunds.create(.prorated, order: order, why: "why", by: anna)
                }
            }
        }
    }

    @Test func `Free, unpriced, shared and unknown ones are refused by name`() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            func create(_ order: String, _ transaction: String? = nil) async throws -> RecordedRefundRequest {
                try await site.refunds.create(.full, order: order, transaction: transaction, why: "why", by: anna)
            }
            let free = try await site.month("100", price: 0)
            let unpriced = try await site.month("200", price: nil)
            let shared = try await site.month("300")
            try await site.apply([
                OrderDatabase.month("300", signed: now) {
                    $0.inAppOwnershipType = OwnershipType(rawValue: "FAMILY_SHARED")
                }
            ])
            await #expect(throws: RefundRefusal.free) { try await create(free) }
            await #expect(throws: RefundRefusal.unpriced) { try await create(unpriced) }
            await #expect(throws: RefundRefusal.shared) { try await create(shared) }
            await #expect(throws: RefundRefusal.noTransaction) { try await create(free, "999") }
            for order in ["ORD-20260101-0999", "ORD-20269999-0001", "100", "", "'"] {
                await #expect(throws: RefundRefusal.noOrder) { try await create(order) }
            }
            #expect(try await site.value("select count(*) from storehook.staff_refund_requests") == Int64(0))
            #expect(try await site.acts().isEmpty)
        }
    }

    @Test func `Roles, apps and four eyes decide the acts of a member`() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            let order = try await site.month()
            let viewer = StaffActor(name: "cli:vera", role: .viewer)
            let support = StaffActor(name: "cli:sam", role: .support)
            let stranger = StaffActor(name: "cli:eve", role: .admin, scope: .some(["com.example.other"]))
            let strict = RefundRequests(site.pool, rules: StaffRules(isFourEyes: true))
            await #expect(throws: StaffRefusal.role(needed: .support)) {
                try await strict.create(.full, order: order, why: "why", by: viewer)
            }
            await #expect(throws: RefundRefusal.noOrder) {
                try await strict.create(.full, order: order, why: "why", by: stranger)
            }
            let number = try await strict.create(.full, order: order, why: "why", by: support).number
            for act in [strict.reject, strict.cancel] {
                await #expect(throws: RefundRefusal.noRequest) { try await act(number, "no", stranger) }
            }
            await #expect(throws: RefundRefusal.noRequest) { try await strict.approve(RefundNumber(9), by: anna) }
            await #expect(throws: StaffRefusal.role(needed: .admin)) { try await strict.approve(number, by: support) }
            await #expect(throws: StaffRefusal.role(needed: .admin)) {
                try await strict.reject(number, note: "no", by: support)
            }
            await #expect(throws: StaffRefusal.ownRequest) {
                try await strict.approve(number, by: StaffActor(name: "cli:sam", role: .admin))
            }
            #expect(try await strict.approve(number, by: anna).recorded.request.state == .approved)
            await #expect(throws: StaffRefusal.role(needed: .admin)) {
                try await strict.record(number, .init(reference: "x", amount: 1, at: now), by: support)
            }
            let roles = try await AuditLog(site.pool).rows(after: 0, through: .max)
                .filter { $0.subjectKind == "refund_request" }.map(\.role)
            #expect(roles == ["support", "admin"])
            var filter = RefundRequests.Filter()
            filter.scope = .some(["com.example.other"])
            #expect(try await strict.list(filter, after: nil, limit: 10).elements.isEmpty)
            #expect(try await strict.show(number, to: .some(["com.example.other"])) == nil)
        }
    }

    @Test func `A list goes page by page, and names what Apple did not refund within 30 days`() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            for purchase in ["100", "200", "300"] {
                let order = try await site.month(purchase)
                let made = try await site.refunds.create(.full, order: order, why: "why", by: anna)
                if purchase != "300" { _ = try await site.refunds.approve(made.number, by: anna) }
            }
            try await site.pool.query(
                "update storehook.staff_refund_requests set decided_at = now() - interval '30 days' where id = 2")
            let filter = RefundRequests.Filter()
            let first = try await site.refunds.list(filter, after: nil, limit: 2)
            #expect(first.elements.map(\.number.value) == [3, 2])
            let rest = try await site.refunds.list(filter, after: first.next, limit: 2)
            #expect(rest.elements.map(\.number.value) == [1] && rest.next == nil)
            #expect(first.elements.map(\.isNotRefunded) == [false, true])
            func numbers(_ change: (inout RefundRequests.Filter) -> Void) async throws -> [Int64] {
                var filter = RefundRequests.Filter()
                change(&filter)
                return try await site.refunds.list(filter, after: nil, limit: 10).elements.map(\.number.value)
            }
            let order = try await site.order("200")
            #expect(try await numbers { $0.isNotRefunded = true } == [2])
            #expect(try await numbers { $0.state = .approved } == [2, 1])
            #expect(try await numbers { $0.order = order } == [2])
            #expect(try await numbers { $0.order = "nothing" } == [])
            #expect(try await numbers { $0.app = "com.example.other" } == [])
            #expect(try await numbers { $0.environment = "Sandbox" } == [])
            #expect(
                try await site.texts("select number from storehook.refund_requests where is_not_refunded") == ["RF-002"]
            )
        }
    }
}
