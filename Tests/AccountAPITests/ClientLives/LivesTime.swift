import Foundation

/// What a life's app may take for now: between these bounds lies whatever its device has shown, or the server has stated, with what has
/// passed since.
struct LivesTime {
    /// How much of what was seen may be forgotten when the app ends.
    private static let forgotten: TimeInterval = 61

    /// The earliest instant that it may take for now.
    private(set) var earliest: Date
    /// The latest one.
    private(set) var latest: Date
    /// The true instant of both, in milliseconds since 1970.
    private var at: Int64
    /// Whether the server has stated the time in this launch: the device's clock does not count any more.
    private var isSet = false

    init(_ wall: Date, at now: Int64) { (earliest, latest, at) = (wall, wall, now) }

    /// The app is started.
    mutating func launch(_ wall: Date, at now: Int64) {
        (earliest, latest) = (max(wall, earliest - Self.forgotten), max(wall, latest))
        (at, isSet) = (now, false)
    }

    /// All that was seen may be lost with the cache.
    mutating func forget() { earliest = .distantPast }

    /// Time has passed in a launch.
    /// - Parameter isSet: whether the server has stated it just now.
    mutating func pass(to now: Int64, wall: Date, isSet: Bool) {
        let passed = Double(now - at) / 1000
        at = now
        if isSet {
            self.isSet = true
            (earliest, latest) = (
                Date(timeIntervalSince1970: Double(now) / 1000), Date(timeIntervalSince1970: Double(now) / 1000)
            )
        } else {
            (earliest, latest) = (earliest + passed, latest + passed)
            if !self.isSet { (earliest, latest) = (max(wall, earliest), max(wall, latest)) }
        }
    }
}
