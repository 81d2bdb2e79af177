import HTTPTypes

/// What every answer of the pages says to browsers.
enum PageHeaders {
    /// Adds it.
    static func add(to headers: inout HTTPFields) {
        headers[.contentSecurityPolicy] = policy
        headers[.xContentTypeOptions] = "nosniff"
        headers[.crossOriginResourcePolicy] = "same-origin"
        for (name, value) in others {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
    }

    /// The policy: everything is the console's own, nothing stands in line, and no other site has it in a frame.
    static let policy = [
        "default-src 'none'", "style-src 'self'", "script-src 'self'", "img-src 'self'", "connect-src 'self'",
        "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
    ].joined(separator: "; ")

    /// Not `no-referrer`, by which browsers would not say where a form comes from.
    private static let others = [
        ("Referrer-Policy", "same-origin"), ("X-Frame-Options", "DENY"), ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ]
}
