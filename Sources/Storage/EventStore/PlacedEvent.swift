import AppStorePayloads
package import Base
import Events

/// An event in the order that all readers follow.
package struct PlacedEvent: Sendable, Hashable {
    /// Its place: from 1 on, without a gap, in the order of committing.
    package var position: Int64
    /// Its name, the same for whoever gets it.
    package var id: Int64
    /// What it tells; one of ``/Events/EventKind``.
    package var kind: String
    /// Apple's name of the environment.
    package var environment: String
    /// The app, where it is one's.
    package var bundleID: String?
    /// The account in whose order it stands.
    package var token: UniqueIdentifier?
    /// What the app's own tokens call it, where that is known.
    package var account: String?
    /// The purchase that it is about, where it is about one.
    package var originalTransactionID: String?
    /// Its number in its order.
    package var sequence: Int64
    /// The account's version by then.
    package var version: Int64?
    /// When what it tells came to be.
    package var at: Timestamp
    /// What of its body does not depend on who reads it.
    package var content: String

    /// The ``id`` as readers and receivers know it.
    package var name: String { "evt_\(id)" }

    /// The body that is sent.
    package func json(previousSequence: Int64?) -> String {
        Event.json(
            kind: kind, instant: at, bundleID: bundleID, environment: environment,
            account: account ?? token?.description, version: version, sequence: sequence,
            previousSequence: previousSequence, content: content)
    }

    /// As the feed lists it: the body, with the name and the position before its members. Of an order nothing is left out there, so that
    /// what was sent before is what has the number before.
    package var listed: String {
        let body = json(previousSequence: sequence > 1 ? sequence - 1 : nil)
        return #"{"id":"\#(name)","cursor":\#(position),"# + body.dropFirst()
    }
}
