/// How long Apple's bytes are kept. Facts, states and the record of each notification stay whatever is chosen here.
package struct Retention: Sendable, Hashable {
    /// Whole days (UTC) for which bytes are kept; nil: for ever.
    package var days: Int?

    /// Whole days after which letters are given up whose chain or signature failed: of these nobody is ever asked for. In no
    /// case longer than ``days``, so that they hold no day back.
    package var junkDays: Int

    /// Whole days for which is kept what became of deliveries.
    package var deliveryDays: Int

    /// A retention of so many days.
    package init(days: Int?, junkDays: Int = 7, deliveryDays: Int = 30) {
        self.days = days
        self.junkDays = junkDays
        self.deliveryDays = deliveryDays
    }

    /// Unless told otherwise: a year, because an annual subscription is questioned when its renewal is paid for, and five
    /// weeks for the question to be asked. Apple gives notifications of the last 180 days a second time at most (App Store
    /// Server API, Get Notification History), so older bytes exist here alone.
    package static let usual = Retention(days: 400)

    /// The least; the schema's function checks the same number. Apple repeats a notification for up to 157 hours, and a
    /// fault that is found on Monday must be mended from something.
    package static let minimumDays = 7
}
