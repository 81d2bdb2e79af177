/// That a row has used up its attempts. Its owner keeps it where somebody can decide, as the outbox keeps dead letters.
package struct Exhaustion: Sendable, Hashable {
    /// How the last attempt ended.
    package enum Cause: Sendable, Hashable {
        /// Its worker died, hung, or was ended by it.
        case workerGone
        /// It was put off once more, for this reason.
        case putOff(String?)
    }

    /// How the last attempt ended.
    package var cause: Cause
    /// Attempts it had, the claim that brought this to light not counted.
    package var attempts: Int

    /// That a row was tried so often.
    package init(cause: Cause, attempts: Int) {
        self.cause = cause
        self.attempts = attempts
    }
}
