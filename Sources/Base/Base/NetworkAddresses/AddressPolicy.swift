/// Which URLs and addresses may be called, where others enter the URL. No URL makes storehook call into a network that the one who
/// entered it could not reach.
///
/// The URL is checked when it is entered and before each call. Before a call the name is resolved, ``addresses(_:)`` checks all of
/// its addresses, and the connection is made to one of these, without resolving again.
public struct AddressPolicy: Sendable, Hashable {
    /// Whether http is called, too.
    public var allowsHTTP: Bool
    /// Networks that are called although the Internet does not route them.
    public var allowedNetworks: [AddressBlock]

    /// A policy; by default only https and public addresses.
    public init(allowsHTTP: Bool = false, allowedNetworks: [AddressBlock] = []) {
        self.allowsHTTP = allowsHTTP
        self.allowedNetworks = allowedNetworks
    }

    /// Reads a URL and checks what can be checked without resolving its name.
    public func url(_ text: String) throws(AddressRefusal) -> StrictURL {
        let url = try StrictURL(text)
        guard url.isSecure || allowsHTTP else { throw .notHTTPS }
        switch url.host {
        case .address(let address): try check(address)
        case .name(let name):
            let isOwn = name == "localhost" || name.hasSuffix(".localhost")
            guard !isOwn || allowedNetworks.contains(where: { $0.base.purpose == .loopback }) else {
                throw .loopbackName
            }
        }
        return url
    }

    /// The addresses to connect to. Rejects the name if any resolved address is forbidden: the next DNS answer could contain only that
    /// one (rebinding).
    public func addresses(_ resolved: [NetworkAddress]) throws(AddressRefusal) -> [NetworkAddress] {
        guard !resolved.isEmpty else { throw .unresolved }
        for address in resolved { try check(address) }
        return resolved
    }

    private func check(_ address: NetworkAddress) throws(AddressRefusal) {
        guard let purpose = address.purpose else { return }
        guard purpose.mayBeAllowed, allowedNetworks.contains(where: { $0.contains(address) }) else {
            throw .address(address, purpose)
        }
    }
}
