import Foundation

/// How far two clocks are apart, as far as one question over a network can tell.
struct ClockDifference {
    /// This machine's clock minus the other one, in seconds.
    let seconds: Double
    /// Half of the time that the question took: the other clock was read somewhere in it.
    let uncertainty: Double

    /// Clocks as they were read: here before and after, and there in between, in seconds since 1970.
    init(before: Double, after: Double, there: Double) {
        seconds = (before + after) / 2 - there
        uncertainty = abs(after - before) / 2
    }

    /// What they are apart at least.
    var certain: Double { max(abs(seconds) - uncertainty, 0) }

    /// `0.004 s ahead of`, to be followed by whom.
    var text: String {
        String(format: "%.3f s", abs(seconds)) + (seconds < 0 ? " behind" : " ahead of")
    }
}
