import AppStorePayloads
public import Base

/// Where Apple's servers are.
public struct AppStoreHosts: Sendable, Hashable {
    /// Why an address is not taken.
    public enum Fault: String, Error, Sendable {
        /// Not a URL.
        case malformed = "it is not a URL of scheme and host, like http://127.0.0.1:8090"
        /// In the clear over a network.
        case insecure = "only https, or http to a loopback address: everybody on the way could read the tokens"
        /// Purchases of real customers would be asked of a host that is not Apple's.
        case production =
            "it is not Apple's, and the environments served include Production: take Production out of STOREHOOK_ENVIRONMENTS, or use a loopback address"
    }

    /// Apple's own, since May 2026.
    public static let apple = AppStoreHosts(
        production: "https://api.storekit.apple.com", sandbox: "https://api.storekit-sandbox.apple.com",
        receipts: "https://buy.itunes.apple.com", sandboxReceipts: "https://sandbox.itunes.apple.com",
        namesEnvironment: false)

    private let production: String
    private let sandbox: String
    /// Where verifyReceipt is asked.
    private let receipts: String
    private let sandboxReceipts: String
    /// Whether the query names the environment: one host stands for both.
    private let namesEnvironment: Bool

    private init(
        production: String, sandbox: String, receipts: String, sandboxReceipts: String, namesEnvironment: Bool
    ) {
        self.production = production
        self.sandbox = sandbox
        self.receipts = receipts
        self.sandboxReceipts = sandboxReceipts
        self.namesEnvironment = namesEnvironment
    }

    /// One host that stands in for Apple's in every environment (`storehook app-store`).
    ///
    /// - Parameters:
    ///   - url: a scheme and a host, perhaps a port and the beginning of a path.
    ///   - environments: the environments served: Production is asked of Apple or of this machine alone.
    public init(standIn url: String, for environments: Set<Environment>) throws(Fault) {
        let parts = try Self.parts(of: url)
        let isLoopback = Self.isLoopback(parts.host)
        guard parts.isSecure || isLoopback else { throw .insecure }
        guard isLoopback || !environments.contains(.production) else { throw .production }
        var base = url
        while base.hasSuffix("/") { base.removeLast() }
        self.init(
            production: base, sandbox: base, receipts: base, sandboxReceipts: base, namesEnvironment: true)
    }

    /// The whole address of verifyReceipt.
    func receiptURL(in environment: Environment) -> String {
        url(
            environment == .production ? receipts : sandboxReceipts, AppleEndpoint.verifyReceipt.path(with: []), [],
            environment)
    }

    /// The whole address of a request to the Server API.
    func url<Answer>(_ request: ServerRequest<Answer>, in environment: Environment) -> String {
        url(environment == .production ? production : sandbox, request.path, request.query, environment)
    }

    private func url(_ host: String, _ path: String, _ query: [QueryItem], _ environment: Environment) -> String {
        let query = query + (namesEnvironment ? [QueryItem("environment", environment.rawValue)] : [])
        return query.isEmpty ? host + path : host + path + "?" + QueryItem.text(query)
    }

    private static func parts(of url: String) throws(Fault) -> (isSecure: Bool, host: Substring) {
        let isSecure = url.hasPrefix("https://")
        guard isSecure || url.hasPrefix("http://") else { throw .malformed }
        let rest = url.dropFirst(isSecure ? 8 : 7)
        // A user, a query or a fragment would hide where it goes, or what is asked there.
        guard rest.utf8.allSatisfy({ (33...126).contains($0) }), !rest.contains(where: { "@?#\\%".contains($0) }) else {
            throw .malformed
        }
        let authority = rest.prefix { $0 != "/" }
        let host: Substring
        let port: Substring
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { throw .malformed }
            host = authority[...end]
            port = authority[authority.index(after: end)...]
        } else {
            host = authority.prefix { $0 != ":" }
            port = authority[host.endIndex...]
        }
        guard !host.isEmpty, port.isEmpty || (port.first == ":" && UInt16(port.dropFirst()) != nil) else {
            throw .malformed
        }
        return (isSecure, host)
    }

    /// 127.0.0.0/8, ::1 and the name that RFC 6761 gives them.
    private static func isLoopback(_ host: Substring) -> Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { UInt8($0) != nil }
    }
}
