import AppStorePayloads
package import Base
import Events

/// An event in the order that all readers follow.
package struct PlacedEvent: Sendable, Hashable {
    /// Its place: from 1 on, without a gap, in the order of committing.
    package var position: Int64
    /// Its id, equal for all readers.
    package var id: Int64
    /// Its kind; one of ``/Events/EventKind``.
    package var kind: String
    /// Apple's name of the environment.
    package var environment: String
    /// The app, where it belongs to one.
    package var bundleID: String?
    /// The account in whose order it is.
    package var token: UniqueIdentifier?
    /// What the app's own tokens call the account, where that is known.
    package var account: String?
    /// The purchase that it is about, where it is about one.
    package var originalTransactionID: String?
    /// Its number in its order.
    package var sequence: Int64
    /// The account's version by then.
    package var version: Int64?
    /// When the reported change took effect.
    package var at: Timestamp
    /// The part of its body that is equal for all readers.
    package var content: String

    /// The ``id`` in the form that readers and receivers get.
    package var name: String { "evt_\(id)" }

    /// The body that is sent.
    /// - Parameter isReplay: whether an operator sends it once more, as a test.
    package func json(previousSequence: Int64?, isReplay: Bool = false) -> String {
        Event.json(
            kind: kind, instant: at, bundleID: bundleID, environment: environment,
            account: account, token: token, version: version, sequence: sequence, previousSequence: previousSequence,
            content: content, isReplay: isReplay)
    }

    /// The number before it in its order.
    private var former: Int64? { sequence > 1 ? sequence - 1 : nil }

    /// The body that is sent as a test: the same, and marked. Receivers that know its id need not take it again.
    package var replayed: String { json(previousSequence: former, isReplay: true) }

    /// The feed's form: the body, with the name and the position before its members. The feed leaves nothing of an
    /// order out, so the previous sequence is always the number before.
    package var listed: String {
        let body = json(previousSequence: former)
        return #"{"id":"\#(name)","cursor":\#(position),"# + body.dropFirst()
    }
}
