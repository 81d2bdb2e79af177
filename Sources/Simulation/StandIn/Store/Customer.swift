import Base

/// A customer of the stand-in: what the store holds true about him, and what he means to do.
struct Customer: Sendable, Hashable, Codable {
    /// Something that he means to do.
    enum Whim: String, Sendable, Codable {
        case buy, switchOff, switchOn, askRefund, getRefund, getNoRefund, buyOnce
        /// His bank pays again.
        case payAgain
    }

    /// What he means to do, when, and about which subscription.
    struct Intention: Sendable, Hashable, Codable {
        let instant: Milliseconds
        let whim: Whim
        /// The original transaction.
        let line: String?
    }

    let id: String
    let joined: Milliseconds
    var subscriber: SimulatedSubscriber
    /// Lines whose charges fail at present, by original transaction.
    var failing: Set<String> = []
    /// What he means to do, the soonest first; empty for one who does nothing by himself.
    var whims: [Intention] = []
    /// Whether he lives by himself.
    let isLively: Bool
    /// Decides what he does by himself.
    var random: SeededGenerator

    /// Where he buys.
    var place: SimulatedApp.Environment { subscriber.app.environment }

    /// A subscription by its original transaction.
    func line(_ originalTransactionId: String) -> SubscriptionLine.Reference? {
        subscriber.allLines.first { subscriber[$0].originalTransactionId == originalTransactionId }
    }

    /// Something sold, by its transaction.
    func item(_ transactionId: String) -> SimulatedSubscriber.SoldItem? {
        subscriber.allItems.first { subscriber[$0].transactionId == transactionId }
    }

    /// When something happens next by itself to a line, and nil where nothing does.
    func due(_ line: SubscriptionLine.Reference) -> Milliseconds? {
        let state = subscriber[line]
        let fails = failing.contains(state.originalTransactionId)
        switch state.phase {
        case .active:
            guard state.renewal.autoRenewStatus == 1 else { return state.expiresDate + 1000 }
            // Apple charges up to a day ahead, so that nobody is without for a moment: at any speed some seconds, for so long
            // it takes until the notification is signed.
            let ahead = min(max(subscriber.span(3_600_000), 8000), (state.expiresDate - state.purchaseDate) / 3)
            return fails ? state.expiresDate + 2000 : state.expiresDate - ahead
        case .gracePeriod: return fails ? subscriber.graceEnd(of: line) : 0
        case .billingRetry: return fails ? state.expiresDate + subscriber.span(Catalogue.days(60)) : 0
        case .expired, .revoked: return nil
        }
    }

    /// Does what is due of a line.
    mutating func happen(_ line: SubscriptionLine.Reference, at now: Milliseconds) {
        let state = subscriber[line]
        let fails = failing.contains(state.originalTransactionId)
        switch state.phase {
        case .active where state.renewal.autoRenewStatus != 1: subscriber.expire(line, .voluntary, at: now)
        case .active where fails:
            subscriber.failToRenew(line, grace: subscriber.app.gracePeriod > 0 ? .dated : .none, at: now)
        case .active: subscriber.renew(line, at: now)
        case .gracePeriod where fails: subscriber.graceExpires(line, at: now)
        case .billingRetry where fails: subscriber.expire(line, .billing, at: now)
        case .gracePeriod, .billingRetry: subscriber.recover(line, at: now)
        case .expired, .revoked: break
        }
    }

    mutating func mean(_ whim: Whim, _ line: String?, at instant: Milliseconds) {
        let position = whims.firstIndex { $0.instant > instant } ?? whims.endIndex
        whims.insert(Intention(instant: instant, whim: whim, line: line), at: position)
    }
}
