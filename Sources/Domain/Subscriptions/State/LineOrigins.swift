import AppStorePayloads
import Base

/// A line's purchases, stretches and signed accounts, in the order of time.
///
/// - A purchase is the customer's: by Apple's word `PURCHASE`. Where Apple does not say, it is one where it begins a
///   stretch, or takes the place of another product more than a day before that ends.
/// - A stretch ends where a purchase begins after the end of all that was before it. Where Apple does not say whether
///   it was a purchase, there must be more than a day in between, and Apple must not have been retrying. A renewal that
///   begins later than Apple retries belongs to a purchase that never arrived.
/// - The first token that is signed into a period counts from the period's beginning; another one, or that there is none,
///   from its signature. It also counts for the periods after it, to the end of the stretch.
struct LineOrigins {
    /// How many ends of stretches are kept: the last ones. Where they are cut depends on their number alone.
    static let keptEnds = 64

    /// The ends of stretches, in order.
    private(set) var stretchEnds: [StretchEnd]
    /// The customer's purchases after the line's first one, in order; as far as the facts reach back.
    private var purchases: [Timestamp] = []
    /// When renewals to another product were charged ahead, by their transactions.
    private var charges: [String: Timestamp] = [:]
    /// For each period, the accounts that were signed into it.
    private var tokens: [[Token]] = []
    /// Those that were signed into transactions that make no period, because they lack its end.
    private var loose: [Token] = []
    /// For each period, the nearest period at or before it, in its stretch, that has a token.
    private var namers: [Namer] = []
    /// For each period, the one that would be it without that period's own token.
    private var earlierNamers: [Namer] = []
    /// From when on a period that has begun names an account. One that is charged ahead is still the upcoming renewal.
    private var firstNamed = Timestamp.distantFuture
    /// The transactions that name an account and were charged ahead, before any period that names one had begun.
    private var namedAhead: [String] = []
    private let carry: LineCarry

    private struct Token {
        var from: Timestamp
        /// Nil where a later record names none.
        let account: UniqueIdentifier?
    }

    private enum Namer {
        case none
        /// A period that is left out.
        case carried
        case period(Int)
    }

    /// Nothing, for rules that are not complete yet.
    init() {
        carry = LineCarry()
        stretchEnds = []
    }

    /// - Parameters:
    ///   - rules: the rules of the line's status over the same facts.
    ///   - carry: what the periods up to the horizon come to.
    init(_ facts: PurchaseFacts, _ rules: SubscriptionRules, _ carry: LineCarry, from horizon: Timestamp) {
        self.carry = carry
        stretchEnds = carry.stretchEnds
        if carry.account != nil || carry.stretchEnds.contains(where: { $0.account != nil }) {
            firstNamed = .distantPast
        }
        take(tokensOf: facts, rules.periods)
        let unheard = rules.renewalsAfterLapses(from: horizon)
        // Of the periods up to the horizon only those of the stretch in force can still decide.
        let stretch = carry.stretchEnds.last?.at ?? .distantPast
        var namer = Namer.none
        var previous: Period?
        var wasRevoked = false
        var nextUnheard = unheard.startIndex
        /// The stretch ends, and a purchase begins another.
        func end(at instant: Timestamp, _ origins: inout LineOrigins) {
            origins.purchases.append(instant)
            origins.stretchEnds.append(StretchEnd(at: instant, account: origins.account(namer, at: instant)))
            namer = .none
        }
        if let transaction = carry.chargedTransactionID, let at = carry.chargedAt { charges[transaction] = at }
        for (place, period) in rules.periods.enumerated() {
            while nextUnheard < unheard.endIndex, unheard[nextUnheard] < period.start {
                if rules.hasLapsed(before: unheard[nextUnheard], place, .unknown) {
                    end(at: unheard[nextUnheard], &self)
                }
                nextUnheard += 1
            }
            if place == 0 || (period.start >= stretch && rules.periods[place - 1].start < stretch) {
                namer = carry.account == nil || period.start < stretch ? .none : .carried
            }
            earlierNamers.append(namer)
            if period.replacedAt != nil {
                // It never begins, and leaves nothing to those after it.
                namers.append(tokens[place].isEmpty ? namer : .period(place))
                continue
            }
            defer { previous = period }
            let isFirst = previous == nil && horizon == .distantPast
            if !isFirst, period.start > horizon {
                let reason = period.record.reason
                // Mostly it is a renewal where the last period ends.
                let mayBegin =
                    reason != .renewal || wasRevoked
                    || previous.map { $0.start.adding(days: StatusPolicy.billingRetryDays) < period.start } ?? true
                if mayBegin, rules.hasLapsed(before: period.start, place, reason) {
                    end(at: period.start, &self)
                } else if let previous, period.isBought(after: previous) {
                    purchases.append(period.start)
                }
            }
            if period.record.isRenewal, period.chargedAt < period.start, let previous,
                previous.record.productID != period.record.productID
            {
                charges[period.record.transactionID] = period.chargedAt
            }
            if !tokens[place].isEmpty {
                namer = .period(place)
                if period.chargedAt < min(firstNamed, period.start) { namedAhead.append(period.record.transactionID) }
                firstNamed = min(firstNamed, period.start)
            }
            namers.append(namer)
            wasRevoked = wasRevoked || period.wasRevoked
        }
        for instant in unheard[nextUnheard...] where rules.hasLapsed(before: instant, rules.periods.count, .unknown) {
            end(at: instant, &self)
        }
        stretchEnds = stretchEnds.suffix(Self.keptEnds)
    }

    private mutating func take(tokensOf facts: PurchaseFacts, _ periods: [Period]) {
        tokens = Array(repeating: [], count: periods.count)
        guard facts.transactions.contains(where: { $0.appAccountToken != nil }) else { return }
        takeTokens(ofNoPeriod: facts)
        // Mostly all name one account.
        if !facts.rarities.contains(.parts), let account = facts.transactions.first?.appAccountToken,
            facts.transactions.allSatisfy({ $0.appAccountToken == account })
        {
            tokens = Array(repeating: [Token(from: .distantPast, account: account)], count: periods.count)
            return
        }
        var places: [String: Int] = [:]
        var parts: [String: Int] = [:]
        for (place, period) in periods.enumerated() {
            places[period.key] = place
            // Parts may share a line item; each has transactions of its own.
            parts[period.record.transactionID] = place
        }
        for fact in facts.transactions {
            guard let place = places[fact.periodKey] ?? parts[fact.transactionID] else { continue }
            if let last = tokens[place].last {
                if last.account != fact.appAccountToken {
                    tokens[place].append(Token(from: fact.asOf, account: fact.appAccountToken))
                } else {
                    tokens[place][tokens[place].count - 1].from = min(last.from, fact.asOf)
                }
            } else if let account = fact.appAccountToken {
                tokens[place].append(Token(from: .distantPast, account: account))
            }
        }
    }

    /// A transaction without a date that makes it a period: renewal info alone says how long it lasts.
    private mutating func takeTokens(ofNoPeriod facts: PurchaseFacts) {
        for fact in facts.transactions where fact.kind == .autoRenewableSubscription && !fact.isUsablePeriod {
            guard let account = fact.appAccountToken, loose.last?.account != account else { continue }
            loose.append(Token(from: loose.isEmpty ? .distantPast : fact.asOf, account: account))
            firstNamed = min(firstNamed, fact.asOf)
        }
    }

    /// The account that Apple signed into a transaction that makes no period.
    func accountOfNoPeriod(at instant: Timestamp) -> UniqueIdentifier? { loose.last { $0.from <= instant }?.account }

    private func account(_ namer: Namer, at instant: Timestamp) -> UniqueIdentifier? {
        var namer = namer
        while case .period(let place) = namer {
            if let account = tokens[place].last(where: { $0.from <= instant })?.account { return account }
            namer = earlierNamers[place]
        }
        if case .carried = namer { return carry.account }
        return nil
    }

    /// The account that Apple signed into a period, or into the nearest one before it in its stretch, as it counts at an
    /// instant.
    func account(of place: Int, in periods: [Period], at instant: Timestamp) -> UniqueIdentifier? {
        // One that never begins names no account once it is replaced.
        guard namers.indices.contains(place),
            let place = periods[...place].lastIndex(where: { !$0.isReplaced(at: instant) })
        else { return nil }
        // A stretch that begins with a purchase that never arrived.
        if let last = stretchEnds.last(where: { $0.at <= instant }), last.at > periods[place].start { return nil }
        return account(namers[place], at: instant)
    }

    /// Whether a period of the line that has begun by an instant names an account: then renewal info's does not count.
    func isNamed(at instant: Timestamp) -> Bool { firstNamed <= instant }

    /// Where an answer may change because another token was signed into a known period.
    var instants: [Timestamp] {
        var instants = loose.dropFirst().map(\.from)
        for tokens in tokens where tokens.count > 1 { instants += tokens.dropFirst().map(\.from) }
        return instants
    }

    /// Of the phase at an instant.
    /// - Parameter renewal: the latest renewal info.
    func origin(of value: StatusAtInstant, at instant: Timestamp, _ renewal: RenewalFact?) -> PhaseOrigin {
        var origin = PhaseOrigin(boughtAt: boughtAt(instant))
        if !charges.isEmpty, let transaction = value.transactionID { origin.chargedAt = charges[transaction] }
        if let named = renewal?.renewalProductID, named != value.renewalProductID { origin.namedProductID = named }
        origin.isUpcomingAccount =
            value.appAccountToken != nil && !isNamed(at: instant)
            && value.transactionID.map { !namedAhead.contains($0) } ?? true
        return origin
    }

    private func boughtAt(_ instant: Timestamp) -> Timestamp? {
        let next = purchases.partitioningIndex { $0 > instant }
        return next > 0 ? purchases[next - 1] : carry.boughtAt
    }

    /// What the facts up to an instant come to, for a reader who leaves them out.
    func carried(to instant: Timestamp, _ periods: [Period]) -> LineCarry {
        let next = periods.partitioningIndex { $0.start > instant }
        return LineCarry(
            account: next > 0 ? account(of: next - 1, in: periods, at: instant) : carry.account,
            boughtAt: boughtAt(instant), stretchEnds: stretchEnds.filter { $0.at <= instant })
    }
}

extension Period {
    /// Whether the customer bought it while another period ran.
    fileprivate func isBought(after other: Period) -> Bool {
        switch record.reason {
        case .purchase: true
        case .renewal: false
        case .unknown:
            record.productID != other.record.productID
                && start < other.expiresAt.adding(days: -StatusPolicy.renewsEarlyDays)
        }
    }
}

extension SubscriptionRules {
    /// When renewal info was signed that names a period that never arrived, on a line that had ended: then the customer
    /// bought again.
    fileprivate func renewalsAfterLapses(from horizon: Timestamp) -> [Timestamp] {
        renewalInstants.filter { $0 > horizon && impliedEnd(at: $0) != nil }
    }

    /// Whether all that began before an instant had ended by then, so that what begins there begins a stretch.
    /// - Parameters:
    ///   - place: the number of periods before it.
    ///   - reason: of what begins.
    fileprivate func hasLapsed(before instant: Timestamp, _ place: Int, _ reason: TransactionFact.Reason) -> Bool {
        let before = instant.adding(milliseconds: -1)
        let days: Int64 =
            switch reason {
            case .purchase: 0
            case .renewal: StatusPolicy.billingRetryDays
            case .unknown: StatusPolicy.renewsEarlyDays
            }
        var isFirst = true
        // From the back: mostly the last one runs on.
        for period in periods[..<place].reversed() where period.replacedAt == nil {
            if instant <= period.end(asSeenAt: before).adding(days: days) { return false }
            isFirst = false
        }
        if isFirst { return false }
        if let renewsAt = impliedEnd(at: before), instant <= renewsAt.adding(days: days) { return false }
        guard reason == .unknown else { return true }
        let status = value(at: before)?.status
        return status != .billingRetry && status != .gracePeriod
    }
}
