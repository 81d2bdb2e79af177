/// How much unverifiable input one address may post before receivers refuse it for a while. The answer (503) makes an
/// honest sender try again, and an address that sent something genuine within 30 days is never refused.
package struct JunkLimits: Sendable, Hashable {
    /// Posts within one minute; beyond them, ten minutes of refusal.
    package var perMinute: Int
    /// Bytes within one day (UTC); beyond them, a day of refusal.
    package var bytesPerDay: Int64

    /// Limits. By default no honest sender comes near them, as an honest sender's posts are never junk.
    package init(perMinute: Int = 120, bytesPerDay: Int64 = 64 << 20) {
        self.perMinute = perMinute
        self.bytesPerDay = bytesPerDay
    }
}
