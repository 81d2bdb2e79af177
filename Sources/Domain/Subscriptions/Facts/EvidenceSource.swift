/// Which way a piece of evidence came. It says nothing about whether it is true: all of it is verified alike. The raw
/// values are stored and sent, so they never change.
///
/// There is none for receipts: those are a kind, which an app hands in or Apple's servers answer.
public enum EvidenceSource: String, Sendable, Hashable, CaseIterable {
    /// Apple posted it.
    case webhook
    /// It was in Apple's notification history.
    case history
    /// Apple's servers answered it.
    case api
    /// An app, or an app's backend, handed it in.
    case client
    /// An operator stored it with storehook's own command.
    case `operator`
}
