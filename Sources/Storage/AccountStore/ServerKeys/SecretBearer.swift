/// A kind of callers that have secrets.
package protocol SecretBearer: Sendable {
    /// What their secrets begin with.
    static var prefix: String { get }
}

/// The operator's own servers, which call the account API.
package enum OwnServer: SecretBearer {
    /// storehook's key.
    package static let prefix = "shk_"
}

/// Members of the staff, as callers of the admin API.
package enum StaffBearer: SecretBearer {
    /// storehook's staff token.
    package static let prefix = "sht_"
}

/// A key with which one of the operator's own servers calls the account API.
package typealias ServerKey = BearerSecret<OwnServer>
/// A token with which a member of the staff calls the admin API.
package typealias StaffSecret = BearerSecret<StaffBearer>

/// Browsers of members of the staff, who are logged in to the pages of the console.
package enum PageBearer: SecretBearer {
    /// storehook's session.
    package static let prefix = "shs_"
}

/// What the cookie of a browser holds that is logged in to the console.
package typealias SessionSecret = BearerSecret<PageBearer>
