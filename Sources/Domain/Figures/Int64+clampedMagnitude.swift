extension Int64 {
    /// Its distance from 0, at most the highest number.
    var clampedMagnitude: Int64 { Int64(clamping: magnitude) }
}
