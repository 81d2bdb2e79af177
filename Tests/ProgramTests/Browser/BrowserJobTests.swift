import AppStorePayloads
import Postgres
import TestSupport
import Testing

/// A job's page, as it goes on.
@Suite("The page of a job in a browser", .serialized)
struct BrowserJobTests {
    @Test("goes on by itself until the job ends, and loses nothing that was typed", .inBrowser)
    func follows() async throws {
        try await BrowserDesk.with { desk in
            // No worker is asked to carry it out: how far it is says this test.
            let id: Int64 = try await desk.site.pool.query(
                """
                insert into storehook.jobs (act, filter, up_to, total, actor, why)
                values ('discard', '{}', 1, 5, 'cli:kim', 'junk') returning id
                """
            ).one().decode(0)
            let done = "[data-live='jobs.\(id).done']"
            func advance(to count: Int32) async throws {
                try await desk.site.pool.query(
                    """
                    update storehook.jobs set state = 'running', begun_at = coalesce(begun_at, now()), done = \(count)
                     where id = \(id)
                    """)
            }
            try await desk.browse { browser in
                /// What the page says is done; nil while another one is loaded.
                func shown() async -> String? { try? await browser.text(of: done) }
                try await browser.open("/jobs/\(id)")
                #expect(await shown() == "0")
                try await advance(to: 1)
                try await eventually("the page is loaded again") {
                    let state = try? await browser.attribute("data-is", of: "[data-while]")
                    return state == "running"
                }
                try await browser.run("window.isSame = true")
                try await advance(to: 3)
                try await eventually("the number goes on") { await shown() == "3" }
                #expect(try await browser.run("return window.isSame === true").bool == true, "by the stream")
                try await browser.type("the wrong ones", into: "form[action$='/stop'] [name='reason']")
                try await desk.site.pool.query(
                    "update storehook.jobs set state = 'done', ended_at = now(), done = 5 where id = \(id)")
                let again = "//section[@data-while]//button[normalize-space()='Look again']"
                try await eventually("the page offers to look again") { try await browser.count(again) == 1 }
                #expect(try await browser.value(of: "form[action$='/stop'] [name='reason']") == "the wrong ones")
                try await browser.press(again)
                try await eventually("the page is that of the end") {
                    let count = try? await browser.count("[data-while]")
                    return count == 0
                }
                #expect(await shown() == "5")
            }
        }
    }
}
