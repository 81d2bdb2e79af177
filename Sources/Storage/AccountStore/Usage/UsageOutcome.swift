/// What became of a report.
package enum UsageOutcome: Sendable, Hashable {
    /// It was counted.
    case counted(UsageCount)
    /// It was counted before, under the same key; this is what was answered then.
    case repeated(UsageCount)
    /// Nothing was counted, because there is no room for all of it.
    case limitReached(UsageCount)
    /// Nothing was counted, because something else was under the same key.
    case keyReused
    /// Nothing was counted, because it is said to have been used more than 35 days ago.
    case tooOld
    /// Nothing was counted, because it is said to have been used more than five minutes from now.
    case inTheFuture
    /// Nothing was counted, because only what is counted in total is given back and set.
    case noStock
}
