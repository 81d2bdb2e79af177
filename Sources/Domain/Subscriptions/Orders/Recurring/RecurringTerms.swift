public import Base

/// How long a period counts for monthly recurring revenue, and why nothing follows it: what the records of its own transaction do not say.
///
/// A period counts from its first instant until its end, at the latest until the purchase that takes its place or a full refund. The grace
/// that follows counts too, billing retry does not.
public struct RecurringTerms: Sendable, Hashable {
    /// Why a period that counts ends.
    public enum EndReason: String, Sendable, Hashable, CaseIterable {
        /// The customer cancelled, or did not agree to a higher price.
        case voluntary
        /// The charge failed.
        case billing
        /// What Apple gives another reason for, as a product that is not sold any more.
        case other

        /// By Apple's `expirationIntent`: 1 and 3 are the customer's decision, 2 is a failed charge.
        init(expirationIntent: Int) {
            switch expirationIntent {
            case 1, 3: self = .voluntary
            case 2: self = .billing
            default: self = .other
            }
        }
    }

    /// A further stretch of time that counts: grace after billing retry, or the time from the reversal of a refund on.
    public struct Stretch: Sendable, Hashable {
        /// Its first instant.
        public var from: Timestamp
        /// The first instant at which it does not count any more.
        public var until: Timestamp
        /// Why it ends; nil where Apple says nothing of it, or something follows.
        public var endReason: EndReason?

        /// Memberwise.
        public init(from: Timestamp, until: Timestamp, endReason: EndReason? = nil) {
            (self.from, self.until, self.endReason) = (from, until, endReason)
        }
    }

    /// The first instant at which it does not count any more; nil where that is its end by its own record.
    public var countsUntil: Timestamp?
    /// Why it ends then; nil where Apple says nothing of it, or something follows.
    public var endReason: EndReason?
    /// Whether auto-renew was off when the trial ended; false of what is no trial.
    public var isRenewalOff = false
    /// The item of the first one of the parts of the period, as added seats; nil where it is whole.
    public var partOf: String?
    /// Further times, in order; mostly none.
    public var stretches: [Stretch] = []

    /// The terms of a period that counts until its end, and of something that is bought once.
    public init() {}
}
