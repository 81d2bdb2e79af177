/// Which way a piece of evidence came. It says nothing about whether it is true: all of it is verified alike. The raw
/// values are names that others build on: they never change.
///
/// There is none for receipts: those are a kind, which an app hands in or Apple's servers answer.
public enum EvidenceSource: String, Sendable, Hashable, CaseIterable {
    /// Apple posted it.
    case webhook
    /// It stood in Apple's notification history.
    case history
    /// Apple's servers answered it.
    case api
    /// An app, or an app's backend, handed it in.
    case client
    /// Somebody stored it with storehook's own command.
    case `operator`
}
