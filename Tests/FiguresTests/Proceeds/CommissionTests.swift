import Base
import Figures
import Testing

@Suite("A commission table")
struct CommissionTests {
    /// What is wrong with a table.
    private func faults(_ text: String) -> [String] {
        do throws(FigureFileFault) { _ = try Commission(yaml: text) } catch { return error.findings.map(\.description) }
        return []
    }

    @Test("has programs, rates and taxes with their days, and what one leaves out follows from the others")
    func read() throws {
        let table = try Commission(
            yaml: """
                program:
                  - {from: 2024-01-01, apps: [com.example.a, com.example.b], program: small_business}
                  - {from: 2025-01-01, program: standard}
                rates:
                  - {from: 2008-07-10, first_year: 30%}
                  - {from: 2016-06-13, first_year: 30%, later_years: 15%, one_time: 27.5%}
                  - {from: 2016-06-13, storefronts: [CHN, XKS], program: small_business, first_year: 12%}
                taxes:
                  - {from: 2021-01-01, storefronts: [DEU], included: 15.966%}
                """)
        #expect(table.memberships.map(\.apps) == [["com.example.a", "com.example.b"], nil])
        #expect(table.memberships.map(\.program) == [.smallBusiness, .standard])
        #expect(try table.memberships.map(\.from) == [day("2024-01-01"), day("2025-01-01")])
        #expect(
            table.rates.map { "\($0.firstYear) \($0.laterYears) \($0.oneTime)" } == [
                "30% 30% 30%", "30% 15% 27.5%", "12% 12% 12%",
            ])
        #expect(table.rates.map(\.storefronts) == [nil, nil, ["CHN", "XKS"]])
        #expect(table.rates.map(\.program) == [nil, nil, .smallBusiness])
        #expect(try table.rates.map(\.from) == [day("2008-07-10"), day("2016-06-13"), day("2016-06-13")])
        #expect(try table.taxes.map(\.from) == [day("2021-01-01")])
        #expect(table.taxes.map { "\($0.storefronts) \($0.included)" } == [#"["DEU"] 15.966%"#])
        // Needs no more than rates.
        #expect(try Commission(yaml: "rates: [{from: 2008-07-10, first_year: 30%}]").taxes.isEmpty)
    }

    @Test("of Apple's own counts until one is applied")
    func standard() throws {
        let table = try Commission(yaml: Commission.standardText)
        #expect(table == .standard && table.memberships.isEmpty && table.taxes.isEmpty)
        #expect(
            table.rates.map {
                "\($0.from) \($0.storefronts ?? []) \($0.program?.rawValue ?? "-") \($0.firstYear) \($0.laterYears)"
            }
                == [
                    "2008-07-10 [] - 30% 30%", "2016-06-13 [] - 30% 15%", "2021-01-01 [] small_business 15% 15%",
                    #"2026-03-15 ["CHN"] - 25% 12%"#, #"2026-03-15 ["CHN"] small_business 12% 12%"#,
                ])
    }

    private static let first = "rates:\n  - {from: 2008-07-10, first_year: 30%}\n"

    @Test(
        "is refused whole, with line and reason",
        arguments: [
            ("", "it is empty"), ("[a]", "line 1: a commission table has members: program, rates, taxes"),
            ("program: []\n", "line 1: a commission table needs rates"),
            ("rates: []\n", "line 1: rates is a list of 1 to 200"),
            ("rates:\n  - {first_year: 30%}\n", "line 2: a rate needs from; write from: 2026-01-01"),
            ("rates:\n  - {from: 2008-07-10}\n", "line 2: a rate needs first_year; write first_year: 30%"),
            ("rates:\n  - {from: 2008-02-30, first_year: 30%}\n", "line 2: from is a day, like 2026-03-15"),
            (first + "  - {from: 2016-06-13, first_year: 100%}\n", "line 3: first_year is a share below 100%"),
            (first + "  - {from: 2016-06-13, first_year: 30}\n", "line 3: first_year is a share below 100%"),
            (first + "  - {from: 2016-06-13, first_year: 30%, later_years: -1%}\n", "line 3: later_years is a share"),
            (first + "  - {from: 2016-06-13, first_year: 30%, one_time: much}\n", "line 3: one_time is a share"),
            (
                first + "  - {from: 2016-06-13, first_year: 30%, second_year: 15%}\n",
                "line 3: a rate has no \"second_year\""
            ),
            (
                first + "  - {from: 2016-06-13, first_year: 30%, storefronts: [QQQ]}\n",
                "line 3: each of storefronts is a country"
            ),
            (
                first + "  - {from: 2016-06-13, first_year: 30%, storefronts: []}\n",
                "line 3: storefronts is a list of 1"
            ),
            (
                first + "  - {from: 2016-06-13, first_year: 30%, program: tiny}\n",
                "line 3: program is one of standard, small_business"
            ),
            (
                first + "  - {from: 2008-07-09, first_year: 30%}\n",
                "line 3: 2008-07-09 stands after 2008-07-10 in rates"
            ),
            (
                first + "  - {from: 2008-07-10, first_year: 25%}\n",
                "line 3: this is for all that the entry of the same day on line 2"
            ),
            (
                first + """
                      - {from: 2026-03-15, storefronts: [CHN], first_year: 25%}
                      - {from: 2026-03-15, storefronts: [CHN, HKG], first_year: 25%}

                    """, "line 4: this is for all that the entry of the same day on line 3"
            ),
            (
                "rates:\n  - {from: 2008-07-10, program: small_business, first_year: 15%}\n",
                "line 2: the first rate is for all storefronts and programs"
            ),
            (first + "taxes:\n  - {from: 2021-01-01, included: 19%}\n", "line 4: a tax needs storefronts"),
            (first + "taxes:\n  - {from: 2021-01-01, storefronts: [DEU]}\n", "line 4: a tax needs included"),
            (
                first + "taxes:\n  - {from: 2021-01-01, storefronts: [DE], included: 19%}\n",
                "line 4: each of storefronts is"
            ),
            (
                first + """
                    taxes:
                      - {from: 2021-01-01, storefronts: [DEU, AUT], included: 16%}
                      - {from: 2021-01-01, storefronts: [DEU], included: 15.966%}
                      - {from: 2020-07-01, storefronts: [DEU], included: 13.793%}

                    """, "line 6: 2020-07-01 stands after 2021-01-01 in taxes"
            ),
            (first + "program:\n  - {from: 2021-01-01}\n", "line 4: a program needs program"),
            (
                first + "program:\n  - {from: 2021-01-01, program: standard, apps: [a b]}\n",
                "line 4: each of apps is a bundle id"
            ),
            (first + "a: &x [1]\nb: *x\n", "a commission table has no anchors and aliases"),
            (first + "rates: [\n", "line"),
        ])
    func refusals(text: String, reason: String) throws {
        let found = faults(text)
        #expect(found.contains { $0.contains(reason) }, "\(found)")
    }

    @Test("says all that is wrong, in the order of the lines, and the first of it in one line")
    func all() throws {
        let text =
            "rates:\n  - {from: 2008-07-10, first_year: 130%}\ntaxes:\n  - {from: x, storefronts: [DEU], included: 19%}\n"
        let fault = #expect(throws: FigureFileFault.self) { try Commission(yaml: text) }
        #expect(fault?.findings.map(\.line) == [2, 4])
        #expect(fault?.description.hasPrefix("line 2: first_year is a share") == true)
        #expect(fault?.description.hasSuffix("; and 1 more") == true)
    }

    @Test("takes a narrower entry of the same day, and one of another app or program")
    func narrower() {
        #expect(
            faults(
                Self.first + """
                      - {from: 2026-03-15, first_year: 30%}
                      - {from: 2026-03-15, storefronts: [CHN], first_year: 25%}
                      - {from: 2026-03-15, storefronts: [CHN], program: small_business, first_year: 12%}
                      - {from: 2026-03-15, storefronts: [HKG], program: small_business, first_year: 12%}
                    program:
                      - {from: 2026-01-01, program: small_business}
                      - {from: 2026-01-01, apps: [com.example.large], program: standard}

                    """
            ).isEmpty)
    }
}
