/// What the stored bytes of recorded evidence are when they are looked at again.
public enum ReopenedEvidence: Sendable {
    /// They verify, as they did when they were recorded.
    case verified(LedgerEntry)
    /// They do not verify any more: another setting, or bytes that should never have been trusted.
    case unverified
    /// Retention has dropped them.
    case gone
}
