package import Base

/// Which addresses an ``OutboundClient`` connects to.
package enum AllowedAddresses: Sendable {
    /// Whatever the URL says. For URLs that are trusted: the operator's settings, Apple's servers, and what a certificate under a
    /// trusted root names.
    case any
    /// Only addresses that a policy allows, for URLs that others enter.
    ///
    /// The name is resolved by the resolver and every address of it is checked; then the connection is made to one of exactly those
    /// addresses, with the name in TLS and in `Host`. The HTTP library is never given a name that it would have to resolve, so no
    /// later answer for the name leads anywhere else. A name is not looked up again for `nameAge`; what is called meanwhile is an
    /// address that was checked.
    case checked(by: AddressPolicy, any AddressResolver, nameAge: Duration)
}
