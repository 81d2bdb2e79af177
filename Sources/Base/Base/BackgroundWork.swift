/// Work beside what callers wait for, such as sums and counts: it takes at most a tenth of a core.
package enum BackgroundWork {
    /// How many times as long as it works it rests afterwards.
    package static let restFactor = 9

    /// The rest after some work.
    package static func rest(after work: Duration) -> Duration { work * restFactor }
}
