import AccountStore
import Accounts
import AppStorePayloads
import Base
import EvidenceStore
import Foundation
import Postgres
import Simulation
import TestSupport
import Testing

/// The desk as it is used: Apple's stand-in, a receiver, a worker and a console on one database, with three customers in it.
///
/// - `ada` has bought, and has access.
/// - `bob` has bought and was refunded by Apple: access has ended.
/// - `carol` has bought under a root that was not trusted then, and is now: her purchase is a dead letter.
struct BrowserDesk: Sendable {
    /// Who bought something, and which transaction it was.
    struct Customer: Sendable {
        var name: String
        /// What was bought; empty where the shop did not sell it.
        var transaction = ""
        var original = ""

        var token: String { "\(AccountToken.of(name))" }
        /// The customer's page.
        var page: String { "/customers/\(token)" }
    }

    /// The mail address of the first admin.
    static let admin = "kim@example.com"

    let site: Site
    let store: RunningAppStore
    /// What every program is started with.
    let settings: [String: String]
    let ada: Customer
    let bob: Customer
    let carol: Customer
    /// The first admin's.
    let password: String
    /// The console's port.
    let port: Int

    /// Scheme, host and port of the console.
    var origin: String { "http://127.0.0.1:\(port)" }

    /// Starts all of it while `body` lasts.
    /// - Parameter catalog: that of the stand-in's shop by default.
    static func with(catalog: String? = nil, _ body: (BrowserDesk) async throws -> Void) async throws {
        try await withShop { site, store, settings, _ in try await run(site, store, settings, catalog, body) }
    }

    private static func run(
        _ site: Site, _ store: RunningAppStore, _ settings: [String: String], _ catalog: String?,
        _ body: (BrowserDesk) async throws -> Void
    ) async throws {
        // The planner knows nothing of a new database, and would compile each statement.
        try await site.pool.query("alter database \(unescaped: site.database.name) set jit = off")
        try await site.apply(catalog: try catalog ?? shopOfStandIn())
        let (ada, bob, carol) = try await fill(site, store, settings)
        let password = try await makeAdmin(site)
        let roots = [settings["STOREHOOK_TRUSTED_ROOTS"] ?? "", site.authority.rootFingerprint]
        let trusting = settings.merging([
            "STOREHOOK_TRUSTED_ROOTS": roots.joined(separator: ","),
            // A walk over all pages is faster than a person.
            "STOREHOOK_REQUESTS_PER_ACCOUNT": "1000000", "STOREHOOK_REQUESTS_PER_ADDRESS": "1000000",
        ]) { $1 }
        try await site.with(["work"], trusting) { _ in
            try await site.with(["console", "--port", "0"], trusting) { console in
                try await body(
                    BrowserDesk(
                        site: site, store: store, settings: trusting, ada: ada, bob: bob, carol: carol,
                        password: password, port: try #require(console.port)))
            }
        }
    }

    /// The catalog of what the stand-in sells.
    static func shopOfStandIn() throws -> String {
        try String(contentsOf: packageRoot.appending(path: "deploy/catalogs/simulator.yaml"), encoding: .utf8)
    }

    // MARK: What is in the database

    private static func fill(
        _ site: Site, _ store: RunningAppStore, _ settings: [String: String]
    ) async throws -> (Customer, Customer, Customer) {
        try await site.with(["work"], settings) { _ in
            let ada = try await buy("ada", site, store, settings)
            let bob = try await buy("bob", site, store, settings)
            try await store.shop("refunds", #"{"transactionId":"\#(bob.transaction)"}"#)
            try await eventually("bob's access ends") {
                try await site.value(
                    """
                    select exists (select from storehook.subscription_status
                                    where original_transaction_id = \(bob.original) and not access)
                    """)
            }
            let carol = Customer(name: "carol")
            var subscriber = SimulatedSubscriber(
                app: .example.in(.production), appAccountToken: carol.token, lane: 1, seed: 1)
            subscriber.buy(.basicMonthly, at: Milliseconds(Int64(Date().timeIntervalSince1970 * 1000)) - 60_000)
            let told = subscriber.takeNotifications()[0]
            try await site.outbox.store([Array(told.signed(by: site.authority).utf8)])
            try await eventually("carol's purchase is a dead letter") {
                try await site.value("select count(*) = 1 from storehook.dead_letters")
            }
            try await eventually("orders have their numbers") {
                try await site.value("select count(number) = 2 from storehook.orders where number is not null")
            }
            return (ada, bob, carol)
        }
    }

    /// A customer whose id storehook knows, and a month that is bought.
    private static func buy(
        _ name: String, _ site: Site, _ store: RunningAppStore, _ settings: [String: String]
    ) async throws -> Customer {
        let known = try await site.run("consent", name, "--grant", "--text", "I agree.", with: settings)
        #expect(known.ending == .exited(0), "\(known.errors)")
        var customer = Customer(name: name)
        let sold = try await store.shop(
            "purchases",
            """
            {"productId":"com.example.storehook.premium.monthly","appAccountToken":"\(customer.token)","environment":"Production"}
            """)
        let object = try #require(try JSONDocument(Array(sold.utf8)).object)
        customer.transaction = try #require(object.string("transactionId"))
        customer.original = try #require(object.string("originalTransactionId"))
        let original = customer.original
        try await eventually("\(name) has access") {
            try await site.value(
                """
                select exists (select from storehook.subscription_status
                                where original_transaction_id = \(original) and access)
                """)
        }
        return customer
    }

    /// The first admin, as an operator makes one.
    /// - Returns: the password.
    private static func makeAdmin(_ site: Site) async throws -> String {
        let added = try await site.run("staff", "add", admin, "--role", "admin")
        #expect(added.ending == .exited(0), "\(added.errors)")
        let made = try await site.run("staff", "password", admin, "--generate", "--format", "json")
        return try #require((try made.json() as? [String: Any])?["password"] as? String)
    }

    /// The number of a customer's order.
    func order(of customer: Customer) async throws -> String {
        try await site.value(
            "select min(number) from storehook.order_transactions where transaction_id = \(customer.transaction)")
    }

    /// A request for a refund that waits.
    func askForRefund(of customer: Customer, why: String = "charged twice") async throws {
        let asked = try await site.run(
            "refunds", "create", try await order(of: customer), "--type", "full", "--why", why, with: settings)
        #expect(asked.ending == .exited(0), "\(asked.errors)")
    }

    // MARK: A browser

    /// Runs a browser in which the admin is logged in.
    func browse<T: Sendable>(
        _ options: WebBrowser.Options = .init(), _ body: (WebBrowser) async throws -> T
    ) async throws -> T {
        try await WebBrowser.with(origin, options) { browser in
            try await logIn(browser)
            return try await body(browser)
        }
    }

    /// Logs the admin in, and stands on the first page.
    func logIn(_ browser: WebBrowser) async throws {
        try await Self.logIn(browser, Self.admin, password)
    }

    /// The same at any console.
    static func logIn(_ browser: WebBrowser, _ mail: String, _ password: String) async throws {
        try await eventually("the login is served") {
            try await browser.open("/login")
            return try await browser.count("form.login") == 1
        }
        try await browser.type(mail, into: "form.login input[name=mail]")
        try await browser.type(password, into: "form.login input[name=password]")
        try await browser.press("form.login button")
        try await eventually("\(mail) is logged in") { try await browser.path == "/" }
    }
}
