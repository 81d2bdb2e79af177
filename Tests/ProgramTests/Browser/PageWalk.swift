import AppStorePayloads
import Base

/// All pages that links lead to, one of each kind: two orders are of one kind, two figures are not.
enum PageWalk {
    /// A bound for a walk that would not end.
    private static let most = 250

    /// Opens one page after the other, from the first one on, in the order in which links name them.
    /// - Parameters:
    ///   - beside: pages to which no link leads.
    ///   - visit: what is done on each, with its place.
    /// - Returns: the places.
    @discardableResult
    static func walk(
        _ browser: WebBrowser, beside: [String] = [], _ visit: (_ place: String) async throws -> Void
    ) async throws -> [String] {
        var places = ["/"] + beside
        var kinds = Set(places.map { kind($0) })
        var next = 0
        while next < places.count, next < most {
            let place = places[next]
            next += 1
            try await browser.open(place)
            let links = try await browser.run("return Array.from(document.links, (link) => link.getAttribute('href'))")
            for link in links.strings where isFollowed(link) && kinds.insert(kind(link)).inserted {
                places.append(link)
            }
            try await visit(place)
        }
        return Array(places.prefix(next))
    }

    /// Files are saved, not shown. Of the other environment, some pages stand for all.
    private static func isFollowed(_ link: String) -> Bool {
        guard link.hasPrefix("/"), !link.hasPrefix("//"), !path(of: link).hasSuffix(".csv") else { return false }
        guard link.contains("environment=") else { return true }
        return link.contains("environment=Sandbox") && ["/", "/orders", "/customers"].contains(path(of: link))
    }

    private static func path(of link: String) -> String { String(link.prefix { $0 != "?" && $0 != "#" }) }

    /// The path with `*` for what has a digit in it, and the names of the query.
    static func kind(_ link: String) -> String {
        let path = path(of: link)
        let query = link.dropFirst(path.count).drop { $0 == "?" }.prefix { $0 != "#" }
        let names = query.split(separator: "&").map { String($0.prefix { $0 != "=" }) }.sorted()
        var parts = path.split(separator: "/").map { $0.contains(where: \.isNumber) ? "*" : String($0) }
        // How a figure is split is one kind for all of them.
        if !names.isEmpty, parts.count > 1, parts[0] == "figures" { parts[1] = "*" }
        return "/\(parts.joined(separator: "/"))?\(names.joined(separator: ","))"
    }
}
