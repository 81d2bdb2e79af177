import APIKit
import Foundation
import Synchronization

/// Forms that were sent. Each carries a number of its own, so that one that is sent twice (a second click, a page that is loaded again) is done
/// once: the second time leads where the first one led.
///
/// Each process has its own: behind a balancer, that a form goes twice to two of them is left to what they do, which has rules of its own.
final class SentForms: Sendable {
    /// What became of one.
    enum State: Sendable, Hashable {
        /// It is being done.
        case underWay
        /// It was done, and led here.
        case done(Place)
    }

    private let forms = Mutex(BoundedTable<String, State>(most: 10_000))

    /// A number for a form.
    static func number() -> String { UUID().uuidString.lowercased() }

    /// Takes a form: nil where it is sent for the first time. Then what becomes of it has to be noted.
    func take(_ number: String) -> State? {
        forms.withLock { forms in
            if let state = forms.value(of: number) { return state }
            forms.put(.underWay, for: number)
            return nil
        }
    }

    /// Notes what became of a form; where nothing did, it may be sent again.
    func note(_ number: String, _ place: Place?) {
        forms.withLock { forms in
            if let place { forms.put(.done(place), for: number) } else { forms.remove(number) }
        }
    }
}
