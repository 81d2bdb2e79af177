/// A store that sells one line of subscriptions and tells of it; it is only there to make lives for the models.
struct LifeShop {
    static let nobody = "00000000-0000-0000-0000-000000000000"

    /// Where the line stands between two acts, as the store reports it.
    private enum Standing: Int {
        case running = 1, lapsed, retried, inGrace, revoked
    }

    private(set) var messages: [LifeMessage] = []
    /// When an app hands in the newest transaction.
    private(set) var proofs: [Int64] = []

    private var random: ModelRandom
    private var now: Int64
    private var standing = Standing.running
    private var transactions: [LifeTransaction]
    /// What was added to the newest one: transactions of their own, to the same end.
    private var seats: [LifeTransaction] = []
    private var renewal: LifeRenewal
    private var refunded: Int?
    private let tokens: [String?]
    private let features: Set<LifeFeature>

    /// Sells the first period at an instant, in epoch milliseconds, and so many more seams.
    init(
        _ line: String, random source: ModelRandom, start: Int64, tokens: [String?], seams: Int,
        features: Set<LifeFeature>
    ) {
        random = source
        self.tokens = tokens
        self.features = features
        now = start
        let product = random.pick(["basic", "basic", "plus", "solo"])
        var first = LifeTransaction(
            id: line, line: line, product: product, purchased: start, expires: start + 30 * ModelTime.day,
            reason: "PURCHASE", token: random.pick(tokens))
        if random.chance(30) {
            first.isTrial = true
            first.expires = start + 7 * ModelTime.day
        }
        transactions = [first]
        renewal = LifeRenewal(after: first)
        tell("SUBSCRIBED")
        for _ in 0..<seams {
            live()
            guard step() else { return }
        }
    }

    private var newest: Int { transactions.count - 1 }
    private var current: LifeTransaction {
        get { transactions[newest] }
        set { transactions[newest] = newValue }
    }
    private var end: Int64 { current.expires ?? now }

    // MARK: - While a period runs

    private mutating func live() {
        for _ in 0..<random.between(0, 3) {
            let room = end - 27 * ModelTime.hour - now
            guard standing == .running, room > ModelTime.hour, now >= current.purchased else { return }
            now += random.between(ModelTime.minute, room / 2)
            switch random.between(0, 99) {
            case 0..<15: switchRenewal()
            case 15..<35: changePlan()
            case 35..<45: refundOlder()
            case 45..<53: refundNewest()
            case 53..<63: extend()
            case 63..<68: reverse()
            case 68..<76 where features.contains(.seats): addSeat()
            case 76..<84 where features.contains(.seats): refundPart()
            default: handIn()
            }
        }
    }

    private mutating func switchRenewal() {
        renewal.renews.toggle()
        tell(renewal.renews ? "AUTO_RENEW_ENABLED" : "AUTO_RENEW_DISABLED")
    }

    private mutating func changePlan() {
        if current.product != "plus" || random.chance(30) {
            return random.chance(70) ? upgrade() : planAhead()
        }
        planAhead()
    }

    private mutating func planAhead() {
        renewal.nextProduct = random.pick(["basic", "solo", "plus"].filter { $0 != current.product })
        // The customer who changes the plan may be signed in with another account.
        if random.chance(40) { renewal.token = random.pick(tokens) }
        renewal.renews = true
        tell("DOWNGRADE")
    }

    private mutating func upgrade() {
        let product = current.product == "plus" ? "solo" : "plus"
        transactions[newest].isUpgraded = true
        buy(product, reason: "PURCHASE", token: random.chance(25) ? random.pick(tokens) : renewal.token)
        tell("UPGRADE")
        if random.chance(25) { refundOlder() }
    }

    private mutating func extend() {
        guard current.revoked == nil, seats.isEmpty else { return }
        current.expires = end + random.between(1, 20) * ModelTime.day
        renewal.date = current.expires
        tell("RENEWAL_EXTENDED")
    }

    /// The customer pays for one more seat, for the rest of the period.
    private mutating func addSeat() {
        guard current.revoked == nil, !current.isTrial else { return }
        var seat = current
        seat.id = "7\(current.id)\(seats.count)"
        // Apple may give it the line item of what it is added to.
        if random.chance(50) { seat.lineItem = "9" + seat.id }
        seat.purchased = now
        seat.reason = "PURCHASE"
        seat.additionalReason = "SEATS_ADDED"
        seats.append(seat)
        tell("SEATS", with: seat)
        let room = end - 28 * ModelTime.hour - now
        guard room > 0, random.chance(50) else { return }
        now += random.between(0, room)
        refundPart()
    }

    /// One of several parts is taken back, and the others stand.
    private mutating func refundPart() {
        var standing = seats.indices.filter { seats[$0].revoked == nil }.map { Int?($0) }
        if current.revoked == nil { standing.append(nil) }
        guard standing.count > 1 else { return }
        if let seat = random.pick(standing) {
            refund(seat)
        } else {
            current.revoked = now
            tell("REFUND")
        }
    }

    private mutating func refund(_ seat: Int) {
        seats[seat].revoked = now
        tell("REFUND", with: seats[seat])
    }

    private mutating func handIn() {
        now += random.between(2, 50) * ModelTime.second
        var copy = current
        copy.signed = now
        messages.append(LifeMessage(name: "handed in", signed: now, line: copy.line, transaction: copy))
        proofs.append(now)
    }

    // MARK: - Refunds

    private mutating func refundOlder() {
        let older = transactions.indices.filter { $0 < newest && transactions[$0].revoked == nil }
        guard !older.isEmpty else { return }
        let index = random.pick(older)
        transactions[index].revoked = now
        refunded = index
        tell("REFUND", about: index)
    }

    private mutating func refundNewest() {
        guard current.revoked == nil else { return }
        for seat in seats.indices where seats[seat].revoked == nil { refund(seat) }
        current.revoked = now
        renewal.renews = false
        refunded = newest
        standing = .revoked
        tell("REFUND")
    }

    private mutating func reverse() {
        guard let index = refunded else { return }
        refunded = nil
        transactions[index].revoked = nil
        if index == newest, standing == .revoked { standing = now < end ? .running : .lapsed }
        tell("REFUND_REVERSED", about: index)
    }

    // MARK: - Where a period ends

    /// Goes on to the next period; false where the line comes to its end.
    private mutating func step() -> Bool {
        switch standing {
        case .running: return seam()
        case .revoked where random.chance(25) && now < end - 27 * ModelTime.hour:
            now += random.between(ModelTime.hour, (end - 26 * ModelTime.hour - now))
            reverse()
            return true
        default: return comeBack()
        }
    }

    private mutating func seam() -> Bool {
        if !renewal.renews { return expire("VOLUNTARY", intent: 1) }
        switch random.between(0, 99) {
        case 0..<40: renew(ahead: 0)
        case 40..<62: renew(ahead: random.between(5 * ModelTime.minute, 24 * ModelTime.hour - ModelTime.minute))
        case 62..<68: return expire("PRODUCT_NOT_FOR_SALE", intent: 4)
        default: return fail()
        }
        return true
    }

    private mutating func renew(ahead: Int64) {
        let begins = end
        now = max(now + ModelTime.minute, begins - ahead)
        guard now <= begins else { return renew(at: now) }
        buy(renewal.nextProduct, reason: "RENEWAL", at: begins, token: renewal.token)
        tell("DID_RENEW")
        guard now < begins - 2 * ModelTime.hour, random.chance(35), features.contains(.replacedRenewals) else {
            now = max(now, begins + ModelTime.second)
            return
        }
        // Bought while the renewal is charged already: that one never begins.
        now = random.between(now + ModelTime.hour, begins - ModelTime.hour / 2)
        if random.chance(50) { transactions[newest].isUpgraded = true }
        buy(
            random.pick(["basic", "solo", "plus"].filter { $0 != current.product }), reason: "PURCHASE",
            token: renewal.token)
        tell("UPGRADE")
        now = max(now, begins + ModelTime.second)
    }

    /// A renewal that was charged late begins when it is charged.
    private mutating func renew(at instant: Int64) {
        buy(renewal.nextProduct, reason: "RENEWAL", at: instant, token: renewal.token)
        tell("DID_RENEW")
    }

    private mutating func expire(_ why: String, intent: Int64) -> Bool {
        now = max(now, end)
        renewal.renews = false
        renewal.intent = intent
        standing = .lapsed
        tell("EXPIRED \(why)", after: random.between(2, 3_000))
        return true
    }

    private mutating func fail() -> Bool {
        now = max(now, end)
        let grace = random.chance(50) ? end + random.pick([3, 6, 16]) * ModelTime.day : nil
        // Apple mostly leaves the flag out rather than writing false, and now and then where it is true.
        renewal.isInRetry = grace != nil && random.chance(20) && features.contains(.silentRetries) ? nil : true
        renewal.graceEnds = grace
        standing = grace == nil ? .retried : .inGrace
        tell("DID_FAIL_TO_RENEW", after: random.between(2, 500))
        if let grace {
            if random.chance(40) {
                now = random.between(now + ModelTime.hour, grace - ModelTime.hour)
                renew(at: now)
                return true
            }
            now = grace
            standing = .retried
            renewal.isInRetry = true
            tell("GRACE_PERIOD_EXPIRED", after: random.between(2, 100))
        }
        now += random.between(ModelTime.hour, 20 * ModelTime.day)
        switch random.between(0, 99) {
        case 0..<40: renew(at: now)
        case 40..<70: return buyAgain()
        default:
            now = end + ModelTime.retry
            renewal.isInRetry = random.chance(50) ? false : nil
            return expire("BILLING_RETRY", intent: 2)
        }
        return true
    }

    private mutating func comeBack() -> Bool {
        guard random.chance(65) else { return false }
        now = max(now, min(end, current.revoked ?? .max)) + random.between(2 * ModelTime.hour, 40 * ModelTime.day)
        if random.chance(15) { refundOlder() }
        return buyAgain()
    }

    /// The customer buys under the same line, with the account that is signed in.
    private mutating func buyAgain() -> Bool {
        now += ModelTime.minute
        buy(random.pick(["basic", "plus", "solo"]), reason: "PURCHASE", token: random.pick(tokens))
        tell("RESUBSCRIBE")
        if random.chance(40) { handIn() }
        return true
    }

    private mutating func buy(_ product: String, reason: String, at begins: Int64? = nil, token: String?) {
        let last = Int64(current.id) ?? 0
        let begins = begins ?? now
        let next = LifeTransaction(
            id: String(last + 1), line: current.line, product: product, purchased: begins,
            expires: begins + 30 * ModelTime.day, reason: reason, token: token)
        transactions.append(next)
        seats = []
        renewal = LifeRenewal(after: next)
        standing = .running
    }

    /// Signs a notification some seconds from now; the clock then stands there.
    private mutating func tell(
        _ name: String, about index: Int? = nil, with record: LifeTransaction? = nil, after seconds: Int64? = nil
    ) {
        now += (seconds ?? random.between(2, 20)) * ModelTime.second + random.between(0, 999)
        var (transaction, info) = (record ?? transactions[index ?? newest], renewal)
        transaction.signed = now
        info.signed = now
        messages.append(
            LifeMessage(
                name: name, signed: now, line: transaction.line, status: standing.rawValue, transaction: transaction,
                renewal: info))
    }
}
