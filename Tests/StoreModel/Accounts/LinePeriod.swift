/// A paid period of a line, as all records together speak of it at one instant; dates are epoch milliseconds.
package struct LinePeriod: Sendable, Hashable {
    /// What makes transactions one period.
    var name: String
    /// What was bought.
    package var product: String
    /// When it begins.
    package var begins: Int64
    /// When it ends by its own record, or by renewal info that moved the end.
    package var ends: Int64
    /// `PURCHASE`, `RENEWAL`, or absent.
    package var reason: String?
    /// Whether it is Apple's free introductory trial.
    package var isTrial = false
    /// Whether Apple says that an upgrade replaced it.
    var isUpgraded = false
    /// Whether a transaction of it says that it is a part.
    var isPart = false
    /// When it was taken back, where that stands at the instant.
    package var revoked: Int64?
    /// The account that is signed into it at the instant.
    package var token: String?
    /// When Apple first signed a record of it that was heard.
    var firstSigned: Int64
    /// When Apple signed the record that speaks for it.
    var lastSigned: Int64
    /// When it really ends: by itself, taken back, or replaced.
    package var stops: Int64 = 0

    /// Whether it was charged before it begins.
    var isChargedAhead: Bool { firstSigned < begins }
    /// Whether Apple renewed it by itself.
    var isRenewal: Bool { reason == "RENEWAL" }

    /// Whether it gives access at the instant.
    func covers(_ instant: Int64) -> Bool { begins <= instant && instant < stops }
}
