package import APIKit
import AccountStore
package import AdminAPI
package import HTTPKit
package import Logging
package import Metrics
package import Postgres

/// The console: pages for the staff, made by the server out of what the admin API answers, on the same port.
package struct PageSite: Sendable {
    /// What the port serves beside the admin API.
    package let routes: OtherRoutes

    /// - Parameters:
    ///   - endpoints: the admin API, which the pages ask.
    ///   - visitors: who is logged in.
    ///   - watch: notices that the database is silent; nil to do without.
    ///   - gate: opens once the schema has been seen to fit; without one, it was seen already.
    /// - Throws: where a file that is embedded into the program is none; a test finds that.
    package init(
        _ endpoints: [AdminEndpoint], _ visitors: Visitors, _ pool: PostgresPool, watch: DatabaseWatch? = nil,
        gate: SchemaGate? = nil, configuration: PageConfiguration,
        factory: any MetricsFactory = MetricsSystem.factory, logger: Logger
    ) throws {
        let templates = try Templates()
        let words = try Words(templates.files)
        let files = StaticFiles(templates.files)
        let metrics = PageMetrics(factory, pages: Set(Self.pages.map(\.name)).union(LoginPages.names))
        let login = LoginPages(
            visitors: visitors, passwords: StaffPasswords(pool),
            limits: LoginLimits(perMinute: configuration.loginsPerMinute, burst: configuration.loginsPerMinute),
            metrics: metrics)
        routes =
            PageRouter(
                pages: login.pages + Self.pages, visitors: visitors, desk: EndpointCaller(endpoints),
                layout: PageLayout(templates: templates, files: files, isByLogin: visitors.isByLogin), words: words,
                gate: gate ?? .open(logger: logger), watch: watch, configuration: configuration,
                addressRates: RateLimit(
                    perMinute: configuration.addressRate.perMinute, burst: configuration.addressRate.burst),
                memberRates: RateLimit(
                    perMinute: configuration.memberRate.perMinute, burst: configuration.memberRate.burst),
                metrics: metrics, logger: logger
            ).routes
    }

    /// Whether a page has this path, so that it cannot stand before those of all others.
    package static func hasPage(_ path: String) -> Bool {
        pages.contains { $0.path == path } || LoginPages.paths.contains(path)
    }

    /// All pages but those of the login.
    static var pages: [Page] {
        [
            OverviewPages.pages, SearchPages.pages, FilterPages.pages, OrderPages.pages, RefundPages.pages,
            CustomerPages.pages,
            ActPages.pages, StoryPages.pages, ExpiringPages.pages, NotePages.pages, FigurePages.pages,
            LetterPages.pages, JobPages.pages,
            DuePages.pages, ConsumptionPages.pages, ExtensionPages.pages, EndpointPages.pages, CatalogPages.pages,
            HealthPages.pages, AuditPages.pages, StaffPages.pages,
        ].flatMap { $0 }
    }
}
