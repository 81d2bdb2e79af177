/// The outcome of a report.
package enum UsageOutcome: Sendable, Hashable {
    /// It was counted.
    case counted(UsageCount)
    /// It was counted before, under the same key; this is the answer of that time.
    case repeated(UsageCount)
    /// Nothing was counted, because there is no room for all of it.
    case limitReached(UsageCount)
    /// Nothing was counted, because the counter would go beyond ``Usage/most``, whatever the tier allows.
    case full(UsageCount)
    /// Nothing was counted, because another report had the same key.
    case keyReused
    /// Nothing was counted, because the account's budget of the day does not suffice for another key.
    case exhausted(WriteBudget.Exhausted)
    /// Nothing was counted, because its usage is dated more than 35 days ago.
    case tooOld
    /// Nothing was counted, because its usage is dated more than five minutes from now.
    case inTheFuture
    /// Nothing was counted, because only features counted in total can be released and set.
    case noStock
}
