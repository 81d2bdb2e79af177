/// What Combine declares of an object that reports its changes.
public protocol ObservableObject: AnyObject {
    /// What reports them.
    associatedtype ObjectWillChangePublisher: Publisher = ObservableObjectPublisher
    where ObjectWillChangePublisher.Failure == Never

    /// Sends before each change.
    var objectWillChange: ObjectWillChangePublisher { get }
}

extension ObservableObject where ObjectWillChangePublisher == ObservableObjectPublisher {
    /// Sends before each change.
    public var objectWillChange: ObservableObjectPublisher { ObservableObjectPublisher() }
}
