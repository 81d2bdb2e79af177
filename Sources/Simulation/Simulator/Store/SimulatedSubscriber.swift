/// A customer of the simulated store, with the store's truth about everything that the customer bought.
///
/// Each verb (`buy`, `renew`, `refund`, …) advances that truth to an instant and emits the notifications that Apple would send,
/// carrying the whole current records. Verbs are to be called in the order of their instants; outer signed dates always ascend.
/// The same app, lane, seed and verbs give the same notifications.
public struct SimulatedSubscriber: Sendable, Hashable, Codable {
    /// How a subscription came to the customer.
    public enum Ownership: String, Sendable, Hashable, Codable {
        /// Paid for.
        case purchased = "PURCHASED"
        /// Through Family Sharing.
        case familyShared = "FAMILY_SHARED"
    }

    /// One thing sold: what a refund is about.
    public enum SoldItem: Sendable, Hashable, Codable {
        /// A transaction of a subscription, counted from 0, restored copies included.
        case period(SubscriptionLine.Reference, Int)
        /// A one-time purchase.
        case single(Int)
    }

    /// The app in which everything is bought.
    public let app: SimulatedApp
    /// Where the customer lives.
    public let storefront: Storefront
    /// The account token that the app gives with every purchase from now on; nil if it gives none.
    public var appAccountToken: String?
    /// The customer's download of the app.
    public let appTransactionId: String
    /// How many times faster than in life periods pass, as in Apple's Sandbox: 1 is life, 8640 makes a month of five minutes.
    public var pace: Int64
    /// Whether everything is signed at the instant at which it happens, so that a store that lives now signs nothing in the
    /// future. Otherwise notifications are signed some seconds later, as Apple's are.
    var signsAtOnce = false

    var lines: [SubscriptionLine] = []
    var purchases: [TransactionRecord] = []
    var random: SeededGenerator
    var mint: IdentifierMint
    /// The longest time from an event to the outer signed date of its notification.
    private(set) var longestDelay: Milliseconds = 0
    private var lastOuterDate: Milliseconds = 0
    private var lastNestedDate: Milliseconds = 0
    private var emitted: [UnsignedNotification] = []

    // How the store signs is the store's, and is not kept.
    private enum CodingKeys: CodingKey {
        case app, storefront, appAccountToken, appTransactionId, pace, lines, purchases, random, mint, longestDelay
        case lastOuterDate, lastNestedDate, emitted
    }

    /// A customer who has bought nothing yet.
    ///
    /// - Parameters:
    ///   - lane: keeps the customer's identifiers apart from every other lane's; not negative.
    ///   - seed: decides UUIDs, identifiers and delays of seconds, never what happens.
    ///   - pace: how many times faster than in life periods pass; at least 1.
    ///   - firstNumber: where in the lane the identifiers begin.
    public init(
        app: SimulatedApp = .example,
        storefront: Storefront = .unitedStates,
        appAccountToken: String? = nil,
        lane: Int,
        seed: UInt64,
        pace: Int64 = 1,
        firstNumber: Int64 = 0
    ) {
        self.app = app
        self.storefront = storefront
        self.appAccountToken = appAccountToken
        self.pace = max(1, pace)
        random = SeededGenerator(seed: seed)
        mint = IdentifierMint(environment: app.environment, lane: lane, from: firstNumber)
        appTransactionId = String(704_000_000_000_000_000 + random.number(in: 0...999_999_999_999_999))
    }

    /// The store's truth about a subscription.
    public subscript(line: SubscriptionLine.Reference) -> SubscriptionLine { lines[line.index] }

    /// The store's record of something sold.
    public subscript(item: SoldItem) -> TransactionRecord {
        get {
            switch item {
            case .period(let line, let index): lines[line.index].transactions[index]
            case .single(let index): purchases[index]
            }
        }
        set {
            switch item {
            case .period(let line, let index): lines[line.index].transactions[index] = newValue
            case .single(let index): purchases[index] = newValue
            }
        }
    }

    /// The latest transaction of a subscription.
    public func latest(of line: SubscriptionLine.Reference) -> SoldItem {
        .period(line, lines[line.index].transactions.count - 1)
    }

    /// Hands over what was emitted since the last time, in the order of the outer signed dates.
    public mutating func takeNotifications() -> [UnsignedNotification] {
        // Room for what comes later is not kept: there may be very many subscribers.
        defer { emitted = [] }
        return emitted
    }

    /// A span of time at this customer's pace.
    func paced(_ span: Milliseconds) -> Milliseconds { span / pace }

    // MARK: - Emitting

    /// Emits a notification about a subscription; it carries the latest transaction unless another one is named.
    mutating func emit(
        _ type: String,
        _ subtype: String? = nil,
        on line: SubscriptionLine.Reference,
        about item: SoldItem? = nil,
        at instant: Milliseconds,
        consumptionRequestReason: String? = nil
    ) {
        let item = item ?? latest(of: line)
        let (outer, nested) = nextSignedDates(at: instant)
        self[item].signedDate = nested
        lines[line.index].renewal.signedDate = nested
        let data = DataRecord(
            appAppleId: app.appAppleId, bundleId: app.bundleId, bundleVersion: app.bundleVersion,
            environment: app.environment.rawValue, transaction: self[item], renewal: lines[line.index].renewal,
            status: lines[line.index].status(at: outer), consumptionRequestReason: consumptionRequestReason)
        append(type, subtype, outer, .data(data))
    }

    /// Emits a notification about a one-time purchase.
    mutating func emit(
        _ type: String, about item: SoldItem, at instant: Milliseconds, consumptionRequestReason: String? = nil
    ) {
        let (outer, nested) = nextSignedDates(at: instant)
        self[item].signedDate = nested
        let data = DataRecord(
            appAppleId: app.appAppleId, bundleId: app.bundleId, bundleVersion: app.bundleVersion,
            environment: app.environment.rawValue, transaction: self[item],
            consumptionRequestReason: consumptionRequestReason)
        append(type, nil, outer, .data(data))
    }

    /// Emits a notification whose part depends on its signed dates (outer, nested).
    mutating func emit(
        _ type: String, _ subtype: String? = nil, at instant: Milliseconds,
        _ part: (Milliseconds, Milliseconds) -> UnsignedNotification.Part
    ) {
        let (outer, nested) = nextSignedDates(at: instant)
        append(type, subtype, outer, part(outer, nested))
    }

    private mutating func append(
        _ type: String, _ subtype: String?, _ signedDate: Milliseconds, _ part: UnsignedNotification.Part
    ) {
        emitted.append(
            UnsignedNotification(
                type: type, subtype: subtype, uuid: random.uuid(), signedDate: signedDate, part: part))
    }

    /// The outer signed date, some seconds after the event, and that of the nested records, which in real samples is the same, up to
    /// 1.5 s earlier, or a few milliseconds later. Both ascend strictly, for a later truth is signed later.
    private mutating func nextSignedDates(at instant: Milliseconds) -> (outer: Milliseconds, nested: Milliseconds) {
        guard !signsAtOnce else {
            let date = max(instant, lastOuterDate + 1, lastNestedDate + 1)
            (lastOuterDate, lastNestedDate) = (date, date)
            return (date, date)
        }
        let outer = max(instant + random.number(in: 800...6000), lastOuterDate + 1000)
        let skew: Milliseconds =
            switch random.number(in: 0...9) {
            case 0...4: 0
            case 5...8: -random.number(in: 1...1500)
            default: random.number(in: 1...13)
            }
        let nested = max(outer + skew, lastNestedDate + 1)
        longestDelay = max(longestDelay, outer - instant)
        lastOuterDate = outer
        lastNestedDate = nested
        return (outer, nested)
    }
}
