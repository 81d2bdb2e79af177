/// The answer of a call that has none but its status: Apple has taken it.
public struct Accepted: Sendable, Hashable {}
