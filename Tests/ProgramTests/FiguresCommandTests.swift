import FigureStore
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("storehook figures")
struct FiguresCommandTests {
    /// Three sales of 4.99 € and one of 0, on two days, one of which is refunded in part a month later.
    static func write(_ site: Site) async throws {
        try await site.pool.withTransaction { session in
            try session.executeScript(
                """
                create temporary table filling on commit drop as
                select n, (1000 + n)::text as key, case when n = 4 then 0 else 4990 end as price,
                       '2026-03-01T12:00Z'::timestamptz + interval '1 day' * (n / 3) as at from generate_series(1, 4) n;
                insert into storehook.order_classes (environment, bundle_id, product_id, plan_type, status, currency, storefront)
                values ('Production', 'com.example.storehook', '=sum', 'consumable', 'completed', 'EUR', 'DEU');
                insert into storehook.booked_orders
                       (environment, bundle_id, order_key, original_transaction_id, originally_at, day, number, class_id, plan_type, item,
                        updated_at)
                select 'Production', 'com.example.storehook', key, key, at, at::date, row_number() over (partition by at order by n), c.id,
                       'consumable', key, at
                  from filling cross join storehook.order_classes c;
                insert into storehook.booked_transactions
                       (order_id, item, transaction_id, product_id, relation, is_within, starts_at, price, currency, storefront, quantity,
                        is_trial, is_void, revoked_share, refunded, heard_at, changed_at)
                select o.id, f.key, f.key, '=sum', 'initial_purchase', false, f.at, f.price, 'EUR', 'DEU', 1, false, false,
                       case n when 1 then 50000 else 0 end, case n when 1 then 2495 else 0 end, f.at, f.at
                  from filling f join storehook.booked_orders o on o.order_key = f.key;
                insert into storehook.booked_refunds (order_id, item, place, type, at, amount, is_computed, heard_at)
                select t.order_id, t.item, 0, 'refund', '2026-04-03T12:00Z', 2495, true, '2026-04-03T12:00Z'
                  from storehook.booked_transactions t where t.refunded > 0;
                """)
        }
    }

    private func sum(_ site: Site) async throws {
        while try await FigureStore(site.pool).sum(in: "UTC") {}
    }

    private func ask(_ site: Site, _ arguments: [String]) async throws -> Outcome {
        let program = try site.start(["figures"] + arguments)
        let ending = await program.end()
        let outcome = Outcome(
            ending: ending, output: program.output, errors: program.errors, outputBytes: program.outputBytes)
        await program.discard()
        return outcome
    }

    private func cells(_ text: String) throws -> [[String: Any]] {
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        return try #require(value?["cells"] as? [[String: Any]])
    }

    private let spring = ["--from", "2026-03-01", "--to", "2026-04-30"]

    @Test("show a figure by month and day, with what is not final, in three formats")
    func formats() async throws {
        try await withSite { site in
            let none = try await ask(site, ["net", "--format", "table"] + spring)
            #expect(none.output.contains("No day was summed yet"), "\(none)")
            try await Self.write(site)
            try await sum(site)
            let months = try cells(await ask(site, ["net"] + spring).output)
            #expect(months.map { $0["period"] as? String } == ["2026-03", "2026-04"])
            #expect(months.map { $0["net"] as? Int } == [14_970, -2495])
            #expect(months.map { $0["currency"] as? String } == ["EUR", "EUR"])
            #expect(months.map { $0["up_to_date"] as? Bool } == [true, true])
            #expect(months.map { $0["proven"] as? Bool } == [false, false], "no app has a key")
            let days = try cells(await ask(site, ["transactions", "--by", "day"] + spring).output)
            #expect(days.map { $0["transactions"] as? Int } == [2, 1])
            #expect(days.map { $0["free"] as? Int } == [0, 1])
            let table = try await ask(site, ["gross", "--format", "table"] + spring)
            #expect(table.output.contains("2026-03  EUR       14.97"), "\(table)")
            #expect(table.output.contains("████"), "\(table)")
            let csv = try await ask(site, ["gross", "--by", "day,product", "--format", "csv"] + spring)
            #expect(csv.output.contains("2026-03-01,\"'=sum\",EUR,9980,2,0"), "\(csv)")
            let rate = try cells(await ask(site, ["refund_rate"] + spring).output)
            #expect(rate.first?["ofPurchases"] as? Int == 16_667, "2.495 of 14.97")
            #expect(rate.last?["refundRate"] == nil, "nothing was sold in April")
        }
    }

    @Test("list the rows behind a figure, page by page, which add up to it")
    func rows() async throws {
        try await withSite { site in
            try await Self.write(site)
            try await sum(site)
            func page(_ more: [String]) async throws -> (rows: [[String: Any]], next: String?) {
                let output = try await ask(site, ["net", "--rows"] + spring + more).output
                let value = try #require(
                    JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
                return (try #require(value["rows"] as? [[String: Any]]), value["next"] as? String)
            }
            let all = try await page([])
            #expect(all.rows.compactMap { $0["amount"] as? Int }.reduce(0, +) == 14_970 - 2495)
            #expect(all.rows.compactMap { $0["order"] as? String }.first == "ORD-20260301-0001")
            var (collected, next) = ([String](), String?.none)
            repeat {
                let one = try await page(["--limit", "1"] + (next.map { ["--after", $0] } ?? []))
                collected += one.rows.compactMap { $0["at"] as? String }
                next = one.next
            } while next != nil
            #expect(collected == all.rows.compactMap { $0["at"] as? String })
            #expect(try await page(["--currency", "USD"]).rows.isEmpty)
        }
    }

    @Test("refuse what names no figure, no part and no days")
    func refusals() async throws {
        try await withSite { site in
            for (arguments, word) in [
                (["profit"], "orders, transactions"), (["net", "--by", "year"], "month or day"),
                (["net", "--by", "month,tier"], "month or day"), (["net", "--from", "2026-02-30"], "2026-01-31"),
                (["net", "--from", "2026-02-02", "--to", "2026-02-01"], "before"),
                (["net", "--currency", "EUR"], "--rows"), (["net", "--in", "EUX"], "--in"),
                (["net", "--rows", "--after", "x"], "--after"),
                (["retention", "--closed"], "record no retention"), (["retention", "--by", "month,product"], "mrr"),
                (["retention", "--month", "3"], "--rows"), (["net", "--rows", "--month", "3"], "retention"),
                (["retention", "--rows", "--month", "37"], "0 to 36"),
            ] {
                let refused = try await ask(site, arguments)
                #expect(refused.ending == .exited(2) && refused.errors.contains(word), "\(arguments): \(refused)")
            }
        }
    }
}
