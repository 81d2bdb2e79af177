/// The result of verifying the stored bytes of recorded evidence again.
public enum ReopenedEvidence: Sendable {
    /// They verify, as they did when they were recorded.
    case verified(LedgerEntry)
    /// They no longer verify: another setting, or bytes that should never have been trusted.
    case unverified
    /// Retention has dropped them.
    case gone
}
