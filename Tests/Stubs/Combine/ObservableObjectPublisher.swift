/// What Combine declares of the publisher of changes. It is not `Sendable`.
public final class ObservableObjectPublisher: Publisher {
    /// It sends that there is a change, and not which.
    public typealias Output = Void
    /// It never fails.
    public typealias Failure = Never

    /// A publisher.
    public init() {}

    /// Reports a change.
    public final func send() {}
}
