import FigureStore
import Figures
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("storehook figures")
struct FiguresCommandTests {
    /// Three sales of 4.99 € and one of 0, on two days. One of them is refunded in part a month later.
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

    @Test("by Apple's fiscal months once the catalog keeps them; a year that the calendar lacks is refused by its name")
    func fiscalMonths() async throws {
        try await withSite { site in
            try await Self.write(site)
            try await sum(site)
            let months = ["--from", "2026-FM05", "--to", "2026-FM08"]
            let unkept = try await ask(site, ["net", "--by", "fiscal-month"] + months)
            #expect(unkept.ending == .exited(1) && unkept.errors.contains("fiscal_months: true"), "\(unkept)")
            while try await FigureStore(site.pool).sum(in: "UTC", commission: .standard, hasFiscalMonths: true) {}
            let answer = try await ask(site, ["gross", "--by", "fiscal-month"] + months)
            #expect(answer.ending == .exited(0) && answer.output.contains("America/Los_Angeles"), "\(answer)")
            #expect(answer.output.contains(#""period":"2026-FM0"#), "\(answer)")
            for (arguments, word) in [
                (["net", "--by", "fiscal-month", "--from", "2031-FM01", "--to", "2031-FM02"], "no fiscal year 2031"),
                (["net", "--from", "2026-FM01"], "fiscal-month"), (["close", "2031-FM01"], "no fiscal year 2031"),
            ] {
                let refused = try await ask(site, arguments)
                #expect(refused.ending == .exited(1) && refused.errors.contains(word), "\(arguments): \(refused)")
            }
            let closed = try await ask(site, ["close", "2026-FM06", "--unproven", "no key"])
            #expect(closed.ending == .exited(0) && closed.output.contains(#""month":"2026-FM06""#), "\(closed)")
            let shown = try await site.run("fiscal-calendar", "show")
            #expect(shown.output.hasPrefix("# the fiscal calendar of this release: none was applied\n"), "\(shown)")
            #expect(shown.output.hasSuffix(FiscalCalendar.standardText), "\(shown)")
        }
    }

    @Test("show users and usage by month and day, with what was not counted")
    func counts() async throws {
        try await withSite { site in
            try await site.pool.withTransaction {
                try $0.executeScript(
                    """
                    insert into storehook.account_days (day, zone, ends_at, counted_at, usage_counted_at) values
                        ('2026-02-28', 'UTC', '2026-03-01T00:00Z', '2026-03-01T00:01Z', '2026-04-06T00:00Z'),
                        ('2026-03-01', 'UTC', '2026-03-02T00:00Z', '2026-03-20T00:01Z', null);
                    insert into storehook.account_day_counts (day, environment, standing, tier, status, count) values
                        ('2026-02-28', 'Production', 'subscriber', 'pro', 'active', 3),
                        ('2026-02-28', 'Production', 'access', 'pro', 'trial', 1),
                        ('2026-02-28', 'Production', 'expired', 'free', 'expired', 4),
                        ('2026-02-28', 'Production', 'anonymous', '', '', 9),
                        ('2026-03-01', 'Production', 'free', 'free', 'free', 1);
                    insert into storehook.usage_days (day, feature, period, tier, is_over, accounts, used) values
                        ('2026-02-28', 'ai', 'day', 'pro', true, 2, 40), ('2026-02-28', 'words', 'total', 'free', false, 3, 7);
                    """)
            }
            let february = ["--from", "2026-02-01", "--to", "2026-02-28"]
            let month = try #require(try cells(await ask(site, ["users"] + february).output).first)
            #expect(
                ["users", "on_trial", "total", "subscribers", "expired", "free", "anonymous"].map { month[$0] as? Int }
                    == [7, 1, 8, 3, 4, 0, 9])
            #expect(
                (month["at"] as? String)?.hasPrefix("2026-03-01T00:00:00") == true && month["late"] as? Bool == false,
                "\(month)")
            let tiers = try await ask(site, ["users", "--by", "day,tier", "--format", "csv"] + february)
            #expect(tiers.output.contains("2026-02-28,free,4,0,50000,0,8"), "\(tiers)")
            #expect(tiers.output.contains("2026-02-28,pro,3,1,37500,12500,8"), "\(tiers)")
            let statuses = try await ask(site, ["users", "--by", "status", "--format", "table"] + february)
            #expect(statuses.output.contains("2026-02  trial"), "\(statuses)")
            let days = try await ask(
                site, ["users", "--by", "day", "--from", "2026-02-27", "--to", "2026-03-01", "--format", "table"])
            #expect(days.output.contains("1 period that ended") && days.output.contains("counted late"), "\(days)")
            let used = try await ask(site, ["usage", "--by", "day", "--from", "2026-02-27", "--to", "2026-03-01"])
            #expect(used.output.contains(#""missing":2"#), "\(used)")
            let lines = try cells(used.output)
            #expect(lines.map { $0["feature"] as? String } == ["ai", "words"])
            #expect(lines.map { $0["counted_by"] as? String } == ["day", "total"])
            #expect(lines.map { $0["used"] as? Int } == [40, 7])
            #expect(lines.map { $0["complete"] as? Bool } == [true, true])
            let whole = try await ask(site, ["usage", "--format", "table"] + february)
            #expect(whole.output.contains("2026-02  ai") && whole.output.contains("not complete"), "\(whole)")
        }
    }

    @Test("refuse what names no figure, no part and no days")
    func refusals() async throws {
        try await withSite { site in
            for (arguments, word) in [
                (["profit"], "orders, transactions"), (["net", "--by", "year"], "fiscal-month or day"),
                (["net", "--by", "month,tier"], "fiscal-month or day"),
                (["net", "--from", "2026-02-30"], "2026-01-31"),
                (["net", "--from", "2026-02-02", "--to", "2026-02-01"], "before"),
                (["net", "--currency", "EUR"], "--rows"), (["net", "--in", "EUX"], "--in"),
                (["net", "--rows", "--after", "x"], "--after"),
                (["retention", "--closed"], "record no retention"), (["retention", "--by", "month,product"], "mrr"),
                (["retention", "--month", "3"], "--rows"), (["net", "--rows", "--month", "3"], "retention"),
                (["retention", "--rows", "--month", "37"], "0 to 36"),
                (["net", "--plan", "year"], "--rows"), (["users", "--by", "month,product"], "tier or status"),
                (["users", "--from", "2026-02-02", "--to", "2026-02-01"], "before"),
                (["usage", "--by", "tier"], "month"), (["usage", "--by", "fiscal-month"], "month"),
                (["users", "--by", "fiscal-month"], "month or day"),
                (["churn", "--by", "fiscal-month,plan"], "mrr"),
                (["lifetime_value", "--closed"], "record no lifetime_value"),
                (["lifetime_value", "--by", "month,product"], "mrr"), (["free_to_paid", "--closed"], "erased"),
                (["free_to_paid", "--app", "com.example.app"], "all apps"),
                (["free_to_paid", "--by", "month,app"], "all apps"),
            ] {
                let refused = try await ask(site, arguments)
                #expect(refused.ending == .exited(2) && refused.errors.contains(word), "\(arguments): \(refused)")
            }
        }
    }
}
