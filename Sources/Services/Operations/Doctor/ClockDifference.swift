import Foundation

/// How far two clocks are apart, as far as one question over a network can show.
struct ClockDifference {
    /// This machine's clock minus the other one.
    let difference: Duration
    /// Half of the time that the question took: the other clock was read somewhere in it.
    let uncertainty: Duration

    /// Clocks as they were read: here before and after, and there in between, since 1970.
    init(before: Duration, after: Duration, there: Duration) {
        difference = (before + after) / 2 - there
        uncertainty = max(after - before, before - after) / 2
    }

    /// What they are apart at least.
    var certain: Duration { max(max(difference, .zero - difference) - uncertainty, .zero) }

    /// `0.004 s ahead of`; the name of the other clock follows.
    var text: String {
        String(format: "%.3f s", abs(difference / .seconds(1))) + (difference < .zero ? " behind" : " ahead of")
    }
}
