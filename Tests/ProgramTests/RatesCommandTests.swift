import FigureStore
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("storehook rates")
struct RatesCommandTests {
    private func rows(_ outcome: Outcome, _ name: String) throws -> [[String: Any]] {
        try #require((try outcome.json() as? [String: Any])?[name] as? [[String: Any]], "\(outcome)")
    }

    private static let bank = """
        <?xml version="1.0" encoding="UTF-8"?>
        <gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
        <Cube><Cube time="2026-03-03"><Cube currency="USD" rate="1.25"/></Cube>
        <Cube time="2026-03-02"><Cube currency="USD" rate="1.5"/><Cube currency="JPY" rate="160"/></Cube></Cube>
        </gesmes:Envelope>
        """

    @Test("import takes a file, with the actor in the audit, and list shows the known rates")
    func imports() async throws {
        try await withSite { site in
            let none = try await site.run("rates", "list", "--format", "table")
            #expect(none.output.contains("storehook rates import"), "\(none)")
            let done = try await site.run("rates", "import", "-", "--as", "anna", input: Self.bank)
            let taken = try #require(try done.json() as? [String: Int])
            #expect(taken == ["rates": 3, "added": 3, "corrected": 0], "\(done)")
            let again = try await site.run(
                "rates", "import", "-", "--format", "table",
                input: "date,currency,rate\n2026-03-03,USD,1.75\n2026-03-20,USD,2\n")
            #expect(again.output.contains("2 rates: 1 are new, 1 are corrected, 0 were known"), "\(again)")
            let known = try rows(try await site.run("rates", "list"), "currencies")
            #expect(known.map { $0["currency"] as? String } == ["JPY", "USD"])
            #expect(known.last?["first"] as? String == "2026-03-02" && known.last?["last"] as? String == "2026-03-20")
            #expect(known.map { $0["days"] as? Int } == [1, 3] && known.map { $0["uncovered"] as? Int } == [0, 9])
            let csv = try await site.run("rates", "list", "--format", "csv")
            #expect(csv.output.contains("USD,2026-03-02,2026-03-20,3,9,1,"), "\(csv)")
            let acts = try rows(try await site.run("audit", "list"), "rows")
            #expect(acts.compactMap { $0["act"] as? String } == ["import_rates", "import_rates"])
            #expect(
                acts.last?["actor"] as? String == "cli:anna" && acts.last?["subject"] as? String == "1", "\(acts)"
            )
        }
    }

    @Test("a wrong file is refused whole, with its line and the reason")
    func refusals() async throws {
        try await withSite { site in
            for (text, words) in [
                ("date,currency,rate\n2026-03-02,USD,1.25\n2026-03-03,USD,0\n", ["line 3", "is 0"]),
                ("date,currency,rate\n2026-03-02,USD,1.25\n2026-03-02,EUX,1\n", ["line 3", "no currency"]),
                ("date,currency,rate\n2999-03-02,USD,1.25\n", ["line 2", "yet to come"]),
                (String(Self.bank.dropLast(19)), ["line 4", "not whole"]), ("{}", ["line 1", "no file of rates"]),
                ("", ["it has no rates"]),
            ] {
                let refused = try await site.run("rates", "import", "-", input: text)
                #expect(refused.ending == .exited(1), "\(text): \(refused)")
                for word in words + ["nothing was imported"] {
                    #expect(refused.errors.contains(word), "\(text): \(refused)")
                }
            }
            let missing = try await site.run("rates", "import", "/nowhere/rates.xml")
            #expect(missing.ending == .exited(2) && missing.errors.contains("cannot read"), "\(missing)")
            #expect(try rows(try await site.run("rates", "list"), "currencies").isEmpty)
            #expect(try rows(try await site.run("audit", "list"), "rows").isEmpty)
        }
    }

    private func runAll(_ site: Site, _ arguments: [String]) async throws -> Outcome {
        let program = try site.start(arguments)
        let ending = await program.end()
        let outcome = Outcome(
            ending: ending, output: program.output, errors: program.errors, outputBytes: program.outputBytes)
        await program.discard()
        return outcome
    }

    /// Sales in three currencies on 2026-03-02.
    private func write(_ site: Site) async throws {
        try await site.pool.withTransaction { session in
            try session.executeScript(
                """
                insert into storehook.order_classes (environment, bundle_id, product_id, plan_type, status, currency, storefront)
                values ('Production', 'com.example.storehook', 'coins', 'consumable', 'completed', 'EUR', 'DEU');
                insert into storehook.booked_orders
                       (environment, bundle_id, order_key, original_transaction_id, originally_at, day, number, class_id, plan_type, item,
                        updated_at)
                select 'Production', 'com.example.storehook', key, key, '2026-03-02T12:00Z', '2026-03-02', n, c.id, 'consumable', key,
                       '2026-03-02T12:00Z'
                  from storehook.order_classes c cross join generate_series(1, 3) n cross join lateral (select n::text as key) k;
                insert into storehook.booked_transactions
                       (order_id, item, transaction_id, product_id, relation, is_within, starts_at, price, currency, storefront, quantity,
                        is_trial, is_void, revoked_share, refunded, heard_at, changed_at)
                select o.id, o.item, o.item, 'coins', 'initial_purchase', false, o.originally_at, 4000 * o.number,
                       (array['EUR', 'USD', 'GBP'])[o.number], 'DEU', 1, false, false, 0, 0, o.originally_at, o.originally_at
                  from storehook.booked_orders o;
                """)
        }
    }

    @Test("figures are in the currency of --in, or in the catalog's, in three formats, with what lacks a rate")
    func figures() async throws {
        try await withSite { site in
            try await write(site)
            let spring = ["--from", "2026-03-01", "--to", "2026-03-31"]
            func ask(_ arguments: String...) async throws -> Outcome {
                try await runAll(site, ["figures", "gross"] + arguments + spring)
            }
            func cells(_ outcome: Outcome) throws -> [String] {
                try rows(outcome, "cells").map {
                    "\($0["currency"] ?? "") \($0["gross"] ?? "") \($0["not_converted"] ?? "-")"
                }
            }
            while try await FigureStore(site.pool).sum(in: "UTC") {}
            #expect(try await site.run("rates", "import", "-", input: Self.bank).ending == .exited(0))
            // 8,000 / 1.5 is 5,333.3…
            let converted = ["EUR 9333 0", "GBP 12000 1"]
            let answer = try await ask("--in", "EUR")
            #expect(try cells(answer) == converted, "\(answer)")
            let object = try #require(try answer.json() as? [String: Any])
            #expect(object["in"] as? String == "EUR" && !(object["rates_corrected_at"] is String), "\(answer)")
            let lost = try rows(answer, "not_converted")
            #expect(lost.count == 1 && lost[0]["currency"] as? String == "GBP" && lost[0]["amount"] as? Int == 12_000)
            let table = try await ask("--in", "EUR", "--format", "table")
            for words in ["NOT CONVERTED", "9.33 ", "No rate is known for 12.00 GBP in 1 row:", "in EUR by the rates"] {
                #expect(table.output.contains(words), "\(words): \(table)")
            }
            let csv = try await ask("--in", "EUR", "--format", "csv", "--by", "month,currency")
            #expect(csv.output.contains("2026-03,USD,EUR,5333,1,0,0"), "\(csv)")
            #expect(csv.output.contains("2026-03,GBP,GBP,12000,1,0,1"), "\(csv)")
            let opened = try await ask("--in", "EUR", "--rows")
            #expect(try rows(opened, "rows").compactMap { $0["converted"] as? Int } == [4_000, 5_333], "\(opened)")
            #expect(try cells(await ask()) == ["EUR 4000 -", "GBP 12000 -", "USD 8000 -"])

            try await site.apply(catalog: "reporting_currency: EUR\n" + shopCatalog)
            #expect(try cells(await ask()) == converted)
            while try await FigureStore(site.pool).sum(in: "UTC", currency: "EUR") {}
            #expect(try cells(await ask()) == converted)
            #expect(try cells(await ask("--in", "none")) == ["EUR 4000 -", "GBP 12000 -", "USD 8000 -"])
            let corrected = try await site.run(
                "rates", "import", "-", input: "date,currency,rate\n2026-03-02,USD,2\n")
            #expect(corrected.ending == .exited(0))
            let pending = try await ask("--format", "table")
            #expect(pending.output.contains("not up to date"), "\(pending)")
            while try await FigureStore(site.pool).sum(in: "UTC", currency: "EUR") {}
            let later = try await ask("--format", "table")
            #expect(later.output.contains("Rates corrected since 20") && later.output.contains("8.00"), "\(later)")
        }
    }
}
