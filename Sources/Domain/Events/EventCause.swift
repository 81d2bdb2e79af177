import AppStorePayloads
public import Base

/// Why storehook knows what an event reports.
public enum EventCause: Sendable, Hashable {
    /// Apple posted it.
    case notification(type: String, subtype: String?, uuid: UniqueIdentifier)
    /// An instant came that was known before.
    case clock
    /// An app, or an app's backend, handed it in.
    case client
    /// It was missing, and was fetched.
    case reconcile
    /// Apple was asked about this purchase.
    case refresh
    /// Staff did something.
    case staff
    /// Staff gave a tier for some days.
    case grant
    /// The app's own trial began.
    case trial
    /// Another catalog became current.
    case catalog
    /// What had been derived was derived anew.
    case rebuild

    /// Whether a single act or request is the cause of all that a transaction reports. All other causes are found at many purchases and accounts
    /// at once.
    package var isAct: Bool {
        switch self {
        case .client, .refresh, .staff, .grant, .trial: true
        case .notification, .clock, .reconcile, .catalog, .rebuild: false
        }
    }

    /// A cause without what it said.
    private enum Kind: String, CaseIterable {
        case notification, clock, client, reconcile, refresh, staff, grant, trial, catalog, rebuild
    }

    /// All names that ``name`` may be, in the order of the cases.
    static var names: [String] { Kind.allCases.map(\.rawValue) }

    /// Its name in the body.
    public var name: String { kind.rawValue }

    private var kind: Kind {
        switch self {
        case .notification: .notification
        case .clock: .clock
        case .client: .client
        case .reconcile: .reconcile
        case .refresh: .refresh
        case .staff: .staff
        case .grant: .grant
        case .trial: .trial
        case .catalog: .catalog
        case .rebuild: .rebuild
        }
    }
}

/// A cause, with what it said.
public struct Evidence: Sendable, Hashable {
    /// Why it is known.
    public var cause: EventCause
    /// From when on it counts.
    public var asOf: Timestamp
    /// The transaction that it speaks of.
    public var transactionID: String?
    /// When money for it went back, or the family shared it no longer, by this evidence.
    public var refundedAt: Timestamp?
    /// Its own id: a notification's UUID, one made of a record's digest, one for each act; nil where there is none.
    public var id: UniqueIdentifier?

    /// Memberwise. By default the id is a notification's UUID.
    public init(
        _ cause: EventCause, asOf: Timestamp, transactionID: String? = nil, refundedAt: Timestamp? = nil,
        id: UniqueIdentifier? = nil
    ) {
        self.cause = cause
        self.asOf = asOf
        self.transactionID = transactionID
        self.refundedAt = refundedAt
        self.id = id
        if id == nil, case .notification(_, _, let uuid) = cause { self.id = uuid }
    }
}

extension [Evidence] {
    /// The first that says that money went back at an instant: a second record of one refund brings no news.
    func first(refundedAt instant: Timestamp?) -> Evidence? {
        guard let instant else { return nil }
        return first { $0.refundedAt == instant }
    }
}
