/// How long Apple's bytes are kept, and other rows that are not kept for good. Facts, states and the record of each notification are kept
/// in any case.
package struct Retention: Sendable, Hashable {
    /// Whole days (UTC) for which bytes are kept; nil keeps them for ever.
    package var days: Int?

    /// Whole days after which letters are discarded whose chain or signature failed: they are never needed again.
    /// Never longer than ``days``, so that they hold no day back.
    package var junkDays: Int

    /// Whole days for which the outcomes of deliveries are kept.
    package var deliveryDays: Int

    /// Whole days for which attempts to buy are kept, and consents after they were superseded.
    package var historyDays: Int

    /// A retention of so many days.
    package init(days: Int?, junkDays: Int = 7, deliveryDays: Int = 30, historyDays: Int = 90) {
        self.days = days
        self.junkDays = junkDays
        self.deliveryDays = deliveryDays
        self.historyDays = historyDays
    }

    /// The default: a year, because an annual subscription is questioned when its renewal is paid for, and five weeks
    /// for the question to be asked. Apple repeats notifications of the last 180 days at most (App Store Server API,
    /// Get Notification History), so older bytes exist here alone.
    package static let usual = Retention(days: 400)

    /// The minimum; the schema's function checks the same number. Apple repeats a notification for up to 157 hours,
    /// and a fault found on Monday must still be repairable from the bytes.
    package static let minimumDays = 7
}
