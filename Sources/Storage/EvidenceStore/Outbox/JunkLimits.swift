/// How much of what does not verify may come from one address before it is asked to come another time. What it is answered
/// (503) makes an honest sender try again, and an address from which something was genuine within 30 days is never asked.
package struct JunkLimits: Sendable, Hashable {
    /// Posts within one minute; beyond them, ten minutes of refusal.
    package var perMinute: Int
    /// Bytes within one day (UTC); beyond them, a day of refusal.
    package var bytesPerDay: Int64

    /// Limits; unless told otherwise what no honest sender comes near, as none of his is ever junk.
    package init(perMinute: Int = 120, bytesPerDay: Int64 = 64 << 20) {
        self.perMinute = perMinute
        self.bytesPerDay = bytesPerDay
    }
}
