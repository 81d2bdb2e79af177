extension Duration {
    /// This duration plus or minus a random quarter, so that many processes do not act together.
    package var jittered: Duration { self * Double.random(in: 0.75...1.25) }
}
