import AppStorePayloads
import Base
import OrderSupport
import PurchaseStore
import TestSupport
import Testing

/// Small lives in every order of arrival, one message at a time. By default a life of more than four messages arrives in one order of ten, chosen
/// by chance.
struct OrderArrivalTests {
    private static let zone = "UTC"
    /// So many orders are always taken: all those of four messages.
    private static let few = 24

    /// Messages of a life, made anew for each order of arrival.
    private struct Small: Sendable {
        let name: String
        let messages: @Sendable (_ id: String) -> [LedgerEntry]
    }

    private static let lives = [
        Small(name: "a renewal charged ahead, replaced by another plan that renews") { id in
            [
                Shop.entry(id, at: Shop.day(0), days: 30),
                Shop.entry(
                    id, id + "b", at: Shop.day(30), renewal: true, first: Shop.day(0), signed: Shop.day(29, hours: 2)),
                Shop.entry(id, id + "b", at: Shop.day(30), renewal: true, first: Shop.day(0), signed: Shop.day(40)),
                Shop.entry(id, id + "c", at: Shop.day(29, hours: 10), product: "premium", first: Shop.day(0)),
                Shop.entry(
                    id, id + "d", at: Shop.day(59, hours: 10), product: "premium", renewal: true, first: Shop.day(0)),
            ]
        },
        Small(name: "a refunded period, bought again before its end, renewed") { id in
            [
                Shop.entry(id, at: Shop.day(0), days: 30),
                Shop.entry(id, at: Shop.day(0), days: 30, signed: Shop.day(5)) { $0.revocationDate = Shop.day(5) },
                Shop.entry(id, id + "b", at: Shop.day(7), product: "premium", first: Shop.day(0)),
                Shop.entry(id, id + "c", at: Shop.day(37), product: "premium", renewal: true, first: Shop.day(0)),
            ]
        },
        Small(name: "a non-consumable, bought again after its refund, and restored") { id in
            func bought(_ name: String, _ start: Int64, first: Int64, signed: Int64, _ revoked: Int64? = nil)
                -> LedgerEntry
            {
                Shop.entry(
                    id, name, at: Shop.day(start), days: nil, product: "lifetime", kind: .nonConsumable,
                    price: first == 0 ? 50_000 : 70_000, first: Shop.day(first), signed: Shop.day(signed)
                ) { $0.revocationDate = revoked.map { Shop.day($0) } }
            }
            return [
                bought(id, 0, first: 0, signed: 0), bought(id, 0, first: 0, signed: 10, 10),
                bought(id + "b", 20, first: 20, signed: 20), bought(id + "c", 25, first: 20, signed: 25),
            ]
        },
        Small(name: "a non-consumable, refunded, bought again, refunded and restored to the customer") { id in
            func bought(_ name: String, _ start: Int64, signed: Int64, _ revoked: Int64? = nil) -> LedgerEntry {
                Shop.entry(
                    id, name, at: Shop.day(start), days: nil, product: "lifetime", kind: .nonConsumable,
                    price: start == 0 ? 50_000 : 70_000, signed: Shop.day(signed)
                ) { $0.revocationDate = revoked.map { Shop.day($0) } }
            }
            return [
                bought(id, 0, signed: 0), bought(id, 0, signed: 10, 10), bought(id + "b", 20, signed: 20),
                bought(id + "b", 20, signed: 30, 30), bought(id + "b", 20, signed: 40),
            ]
        },
        Small(name: "a trial that is revoked, and paid later") { id in
            func trial(_ signed: Int64, _ revoked: Int64?) -> LedgerEntry {
                Shop.entry(id, at: Shop.day(0), days: 7, price: 0, signed: Shop.day(signed)) {
                    ($0.offerType, $0.offerDiscountType) = (.introductory, .freeTrial)
                    $0.revocationDate = revoked.map { Shop.day($0) }
                }
            }
            return [
                trial(0, nil), trial(3, 3),
                Shop.entry(id, id + "b", at: Shop.day(7), renewal: true, first: Shop.day(0)),
            ]
        },
        Small(name: "a trial that is revoked, and nothing else") { id in
            [nil, 3].map { (revoked: Int64?) in
                Shop.entry(id, at: Shop.day(0), days: 7, price: 0, signed: Shop.day(revoked ?? 0)) {
                    ($0.offerType, $0.offerDiscountType) = (.introductory, .freeTrial)
                    $0.revocationDate = revoked.map { Shop.day($0) }
                }
            }
        },
        Small(name: "a price that is said later") { id in
            [
                Shop.entry(id, at: Shop.day(0), price: nil), Shop.entry(id, at: Shop.day(0), signed: Shop.day(2)),
                Shop.entry(id, at: Shop.day(0), signed: Shop.day(4)) {
                    ($0.revocationDate, $0.revocationPercentage) = (Shop.day(4), 12_345)
                },
            ]
        },
        Small(name: "a price that is said with the refund") { id in
            [
                Shop.entry(id, at: Shop.day(0), price: nil) { $0.currency = nil },
                Shop.entry(id, at: Shop.day(0), price: 9_999, signed: Shop.day(4)) {
                    ($0.revocationDate, $0.revocationPercentage, $0.currency) = (Shop.day(4), 50_000, "EUR")
                },
            ]
        },
        Small(name: "a share above the whole") { id in
            [
                Shop.coins(id, at: Shop.day(0)), share(id, 120_000, signed: 10, at: 10),
                share(id, 100_000, signed: 20, at: 10),
            ]
        },
        Small(name: "a period under two transactions, refunded by one, taken back by the other") { id in
            func said(_ name: String, _ signed: Int64, _ revoked: Int64?) -> LedgerEntry {
                Shop.entry(id, name, at: Shop.day(0), signed: Shop.day(signed)) {
                    ($0.webOrderLineItemId, $0.revocationDate) = (id + "w", revoked.map { Shop.day($0) })
                }
            }
            return [said(id, 0, nil), said(id + "r", 5, nil), said(id + "r", 8, 8), said(id, 12, nil)]
        },
        Small(name: "a period bought by somebody that is shared after all, and taken away") { id in
            [
                Shop.entry(id, at: Shop.day(0)) { $0.inAppOwnershipType = nil },
                Shop.entry(id, at: Shop.day(0), signed: Shop.day(2)) { $0.inAppOwnershipType = .familyShared },
                Shop.entry(id, at: Shop.day(0), signed: Shop.day(4)) {
                    ($0.inAppOwnershipType, $0.revocationDate, $0.revocationType) = (
                        .familyShared, Shop.day(4), .familyRevoke
                    )
                },
            ]
        },
        Small(name: "a return after a lapse, to another product, refunded before it") { id in
            [
                Shop.entry(id, at: Shop.day(0)),
                Shop.entry(id, id + "b", at: Shop.day(100), product: "premium", first: Shop.day(0)),
                Shop.entry(id, id + "c", at: Shop.day(130), product: "premium", renewal: true, first: Shop.day(0)),
                Shop.entry(id, at: Shop.day(0), signed: Shop.day(140)) {
                    ($0.revocationDate, $0.revocationType) = (Shop.day(140), .refundProrated)
                },
            ]
        },
        Small(name: "a refund that rises, falls, and is taken back") { id in
            [
                Shop.coins(id, at: Shop.day(0)),
                share(id, 30_000, signed: 10, at: 10), share(id, 60_001, signed: 20, at: 20),
                share(id, 20_000, signed: 30, at: 20), share(id, nil, signed: 40, at: nil),
            ]
        },
    ]

    private static func share(_ id: String, _ share: Int64?, signed: Int64, at revoked: Int64?) -> LedgerEntry {
        Shop.entry(
            id, at: Shop.day(0), days: nil, product: "coins", kind: .consumable, first: Shop.day(0),
            signed: Shop.day(signed)
        ) { ($0.revocationDate, $0.revocationPercentage) = (revoked.map { Shop.day($0) }, share) }
    }

    @Test("small lives are what plain SQL makes of their facts, in each order of arrival")
    func arrivals() async throws {
        var generator = SeededGenerator()
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            var orders: [String: String] = [:]
            // The first message of each life, the second one of each, …: one message of a life at a time.
            var steps: [[LedgerEntry]] = []
            for (life, small) in Self.lives.enumerated() {
                let count = small.messages("0.0").count
                let all = Self.permutations(of: Array(0..<count))
                let some = all.count > Self.few ? sampled(all, using: &generator) : all
                for (number, order) in some.enumerated() {
                    let id = "\(life * 1_000 + number).1"
                    let messages = small.messages(id)
                    for (step, place) in order.enumerated() {
                        if step == steps.count { steps.append([]) }
                        steps[step].append(messages[place])
                    }
                    orders["\(life * 1_000 + number)"] = "\(small.name), \(order)"
                }
            }
            for batch in steps.flatMap({ $0.batches(of: 50) }) { try await site.apply(batch) }
            let oracle = OrderOracle(site: site, zone: Self.zone)
            try await oracle.derive()
            let differences = Dictionary(grouping: try await oracle.differences()) {
                OrderLife.seed(ofKey: $0.key).map { "\($0)" } ?? ""
            }
            for (life, rows) in differences.sorted(by: { $0.key < $1.key }) {
                Issue.record("\(orders[life] ?? ""):\n\(rows.map(\.description).joined(separator: "\n"))")
            }
            #expect(try await site.differences().isEmpty)
        }
    }

    private static func permutations(of places: [Int]) -> [[Int]] {
        places.isEmpty
            ? [[]]
            : places.flatMap { first in permutations(of: places.filter { $0 != first }).map { [first] + $0 } }
    }
}
