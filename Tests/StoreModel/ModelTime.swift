/// Lengths of time, in milliseconds.
package enum ModelTime {
    /// One second.
    package static let second: Int64 = 1_000
    /// One minute.
    package static let minute: Int64 = 60 * second
    /// One hour.
    package static let hour: Int64 = 60 * minute
    /// One day of 24 hours.
    package static let day: Int64 = 24 * hour
    /// How long the store goes on trying to charge, counted from the end of the paid period.
    package static let retry: Int64 = 60 * day
}
