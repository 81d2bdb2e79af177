import APIKit
import Base
import HTTPKit
import HTTPTypes

/// Where a request comes from: by which way, and from which page.
enum RequestOrigin {
    /// Whether a page of ours made the request, by what browsers say and pages cannot change: `Sec-Fetch-Site`, and of browsers that do not
    /// send it, `Origin`. What says neither is no browser, or an old one.
    static func isOwnPage(_ evidence: CallerEvidence) -> Bool {
        if let name = fetchSite, let site = evidence.headers[name] { return site == "same-origin" }
        guard let origin = evidence.headers[.origin], let authority = evidence.authority,
            let scheme = origin.firstRange(of: "://")
        else { return false }
        // Without the port, which a proxy may have left out.
        return host(of: origin[scheme.upperBound...]) == host(of: authority[...])
    }

    /// Whether another site led here: then the browser keeps back cookies that are the console's alone.
    static func isOtherSite(_ headers: HTTPFields) -> Bool {
        guard let name = fetchSite, let site = headers[name] else { return false }
        return ["cross-site", "same-site"].contains(site)
    }

    /// Whether a request over plain HTTP was made on this machine, to this machine, without a proxy in between.
    static func isLocal(_ evidence: CallerEvidence) -> Bool {
        guard let peer = evidence.peer, TrustedProxies.loopback.contains(peer) else { return false }
        guard !proxied.contains(where: { evidence.headers.contains($0) }) else { return false }
        guard let authority = evidence.authority else { return false }
        // Another name for this machine may be anybody's (DNS rebinding).
        let host = host(of: authority[...])
        if host == "localhost" { return true }
        return NetworkAddress(host.hasPrefix("[") ? host.dropFirst().dropLast() : host[...]).map {
            TrustedProxies.loopback.contains($0)
        } ?? false
    }

    /// A host in lower case, without its port.
    private static func host(of authority: Substring) -> String {
        if authority.hasPrefix("[") { return authority.prefix { $0 != "]" }.lowercased() + "]" }
        return authority.prefix { $0 != ":" }.lowercased()
    }

    private static let fetchSite = HTTPField.Name("Sec-Fetch-Site")

    /// What proxies add.
    private static let proxied =
        ["X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "Forwarded"]
        .compactMap { HTTPField.Name($0) } + [.via]
}
