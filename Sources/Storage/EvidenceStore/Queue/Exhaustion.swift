/// A row has used up its attempts. The queue's owner keeps it for an operator to decide, as the outbox
/// keeps dead letters.
package struct Exhaustion: Sendable, Hashable {
    /// How the last attempt ended.
    package enum Cause: Sendable, Hashable {
        /// Its worker died, hung, or was killed by it.
        case workerGone
        /// It was put off once more, for this reason.
        case putOff(String?)
    }

    /// How the last attempt ended.
    package var cause: Cause
    /// Attempts it had, without the claim that found this.
    package var attempts: Int

    /// A row that was tried so often.
    package init(cause: Cause, attempts: Int) {
        self.cause = cause
        self.attempts = attempts
    }
}
