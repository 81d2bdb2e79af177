/// How restoring ended, as the app shows it.
public enum RestoreResult: Sendable, Equatable {
    /// So many purchases are this account's.
    case restored(Int)
    /// There was nothing to restore.
    case nothing
    /// The customer closed the store's window: nothing is shown.
    case cancelled
    /// It failed, for this reason.
    case failed(ClientError)

    /// Whether anything was restored.
    public var succeeded: Bool { if case .restored = self { true } else { false } }
}
