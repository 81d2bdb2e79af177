package import APIKit
package import HTTPKit

/// How the pages are reached, and what bounds their readers.
package struct PageConfiguration: Sendable {
    /// What stands before each path where a proxy in front serves others beside the console, such as `/desk`; empty for nothing.
    package var prefix: String
    /// The proxies that name the sender of a request.
    package var proxies: TrustedProxies
    /// How often a member of the staff may ask.
    package var memberRate: APIConfiguration.Rate
    /// How often an address may.
    package var addressRate: APIConfiguration.Rate
    /// How often an address may try to log in, in a minute.
    package var loginsPerMinute = 10

    /// That of the admin API on the same port.
    package init(_ configuration: APIConfiguration) {
        prefix = configuration.prefix
        proxies = configuration.http.trustedProxies
        memberRate = configuration.callerRate
        addressRate = configuration.addressRate
    }
}
