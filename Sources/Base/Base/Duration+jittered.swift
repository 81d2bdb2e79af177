extension Duration {
    /// This duration give or take a quarter, drawn each time: many processes that do the same do not do it together.
    package var jittered: Duration { self * Double.random(in: 0.75...1.25) }
}
