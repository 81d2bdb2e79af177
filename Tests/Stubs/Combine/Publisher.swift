/// What Combine declares of publishers, as far as objects that report their changes need it.
public protocol Publisher<Output, Failure> {
    /// What it sends.
    associatedtype Output
    /// How it fails.
    associatedtype Failure: Error
}
