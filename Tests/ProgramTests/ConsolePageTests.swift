import AccountStore
import Accounts
import AuditStore
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("The console's pages", .serialized)
struct ConsolePageTests {
    private static let pages = [
        "/", "/orders", "/refund-requests", "/customers", "/audit", "/staff?removed=true", "/figures", "/figures/users",
        "/figures/usage", "/figures/gross?split=product", "/figures/mrr", "/figures/retention", "/figures/gross/rows",
        "/orders.csv", "/refund-requests.csv", "/customers.csv", "/audit.csv", "/figures/gross/rows.csv",
        "/?environment=Sandbox", "/dead-letters", "/dead-letters.csv", "/jobs", "/jobs.csv", "/due", "/due.csv",
        "/consumption-requests", "/consumption-requests.csv", "/extensions", "/extensions.csv", "/endpoints",
        "/endpoints.csv", "/deliveries", "/deliveries.csv", "/catalog", "/health", "/expiring", "/expiring.csv",
        "/notes", "/notes.csv", "/staff/1", "/refund-requests?sort=due", "/consumption-requests?sort=due",
    ]

    @Test("let a member in with the password, as a user of the console's role alone, and out again")
    func login() async throws {
        try await withRoles { site in
            try await site.apply(catalog: shopCatalog)
            _ = try await ConsoleTests.purchase(site, of: "bob")
            let order = try await ConsoleTests.order(site)
            #expect(try await site.run("staff", "add", "kim@example.com", "--role", "admin").ending == .exited(0))
            let made = try await site.run("staff", "password", "kim@example.com", "--generate", "--format", "json")
            let password = try #require((try made.json() as? [String: Any])?["password"] as? String)
            try await withUser(in: "storehook_console", site) { user in
                try await site.with(["console", "--port", "0"], user) { program in
                    let browser = DeskBrowser(port: try #require(program.port))
                    try await eventually("the pages are served") { try await browser.get("/login").status == 200 }
                    #expect(try await browser.get("/orders").location == "/login?next=%2Forders")
                    _ = try await browser.get("/login")
                    let wrong = try await browser.post(
                        "/login", ["mail": "kim@example.com", "password": "wrong horse"])
                    #expect(wrong.status == 401, "\(wrong.body)")
                    let done = try await browser.post("/login", ["mail": "kim@example.com", "password": password])
                    #expect(done.status == 303 && done.location == "/", "\(done.body) \(program.errors)")
                    let customer = "/customers/\(AccountToken.of("bob"))"
                    for path in Self.pages + ["/orders/\(order)", customer] {
                        let page = try await browser.get(path)
                        #expect(page.status == 200, "\(path): \(page.body) \(program.errors)")
                    }
                    #expect(try await browser.get("/admin/orders").status == 200)
                    for path in ["/orders", "/orders/\(order)", "/customers", customer, "/audit"] {
                        #expect(try await browser.post(path, [:]).status == 200, "\(path): \(program.errors)")
                    }
                    let before = try await AuditLog(site.pool).tail().place
                    var act = ["what": "grant", "tier": "premium", "days": "3", "reason": "an outage"]
                    let review = try await browser.post("\(customer)/act", act)
                    #expect(review.status == 200, "\(review.body) \(program.errors)")
                    #expect(try await AuditLog(site.pool).tail().place == before)
                    act["confirmed"] = "yes"
                    let granted = try await browser.post("\(customer)/act", act)
                    #expect(granted.status == 303, "\(granted.body) \(program.errors)")
                    let asked = try await browser.post(
                        "/orders/\(order)/refund-requests", ["type": "full", "reason": "charged twice"])
                    #expect(asked.location == "/refund-requests/RF-001", "\(asked.body) \(program.errors)")
                    #expect(try await browser.get("/refund-requests/RF-001").status == 200)
                    let rows = try await AuditLog(site.pool).rows(after: before, through: .max)
                    #expect(rows.map(\.act) == ["grant", "create_refund_request"], "\(rows)")
                    #expect(rows.allSatisfy { $0.actor == "staff:1" && $0.role == "admin" && $0.isProven })
                    let found = try await browser.post("/search", ["text": order])
                    #expect(found.location?.hasPrefix("/orders/\(order)") == true)
                    let several = try await browser.post("/search", ["text": "ORD-20"])
                    #expect(try await browser.get(several.location ?? "-").status == 200, "\(several.body)")
                    #expect(try await browser.post("/logout", [:]).location == "/login")
                    #expect(try await browser.get("/orders").status == 303)
                    let left = try await site.pool.query("select count(*) from storehook.console_sessions").one()
                    #expect(try left.decode(0) == Int64(0))
                    #expect(!program.errors.contains(password) && !program.output.contains(password))
                }
            }
            #expect(try await AuditLog(site.pool).verify().fault == nil)
        }
    }

    @Test("take people whom a proxy has logged in, as a user of the console's role alone")
    func proxied() async throws {
        try await withRoles { site in
            try await site.apply(catalog: shopCatalog)
            let customer = "/customers/\(AccountToken.of("bob"))"
            _ = try await ConsoleTests.purchase(site, of: "bob")
            try await withUser(in: "storehook_console", site) { user in
                let settings = user.merging([
                    "STOREHOOK_CONSOLE_AUTH": "proxy:127.0.0.1", "STOREHOOK_CONSOLE_GROUPS": "ops=admin,help=viewer",
                ]) { own, _ in own }
                try await site.with(["console", "--port", "0", "--behind-tls"], settings) { program in
                    let port = try #require(program.port)
                    let kim = DeskBrowser(
                        port: port, [("X-Auth-Request-User", "kim"), ("X-Auth-Request-Groups", "ops")])
                    try await eventually("the pages are served") { try await kim.get(customer).status == 200 }
                    let act = [
                        "what": "grant", "tier": "premium", "days": "3", "reason": "an outage", "confirmed": "yes",
                    ]
                    let granted = try await kim.post("\(customer)/act", act)
                    #expect(granted.status == 303, "\(granted.body) \(program.errors)")
                    let row = try #require(try await AuditLog(site.pool).rows(after: 0, through: .max).last)
                    #expect(row.act == "grant" && row.actor == "proxy:kim" && row.role == "admin", "\(row)")
                    let sam = DeskBrowser(
                        port: port, [("X-Auth-Request-User", "sam"), ("X-Auth-Request-Groups", "help")])
                    #expect(try await sam.get(customer).status == 200)
                    #expect(try await sam.post("\(customer)/act", act).status == 403, "\(program.errors)")
                    #expect(try await DeskBrowser(port: port).get(customer).status == 403)
                    try await site.pool.query(
                        "update storehook.proxied_tries set minute = minute - interval '1 minute'")
                    try await eventually("the try is on record") {
                        let last = try await AuditLog(site.pool).rows(after: 0, through: .max).last
                        return last?.act == "forbidden" && last?.actor == "proxy:sam" && last?.role == "viewer"
                    }
                }
            }
            #expect(try await AuditLog(site.pool).verify().fault == nil)
        }
    }
}
