/// An instant (since 1970-01-01T00:00:00Z) or a span of time, both in whole milliseconds as Apple writes them.
public typealias Milliseconds = Int64

extension Milliseconds {
    /// `count` seconds.
    static func seconds(_ count: Int64) -> Milliseconds { count * 1000 }

    /// `count` minutes.
    static func minutes(_ count: Int64) -> Milliseconds { count * 60_000 }

    /// `count` hours.
    static func hours(_ count: Int64) -> Milliseconds { count * 3_600_000 }

    /// `count` days of 24 hours.
    static func days(_ count: Int64) -> Milliseconds { count * 86_400_000 }

    /// The instant without its fraction of a second: Apple's purchase and expiry dates are whole seconds.
    var wholeSeconds: Milliseconds { self / 1000 * 1000 }
}
