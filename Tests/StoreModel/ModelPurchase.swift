/// The life of one purchase: all periods under one original transaction.
///
/// Each act does three things side by side: it writes the ledger, changes the records, and sends what the store would.
struct ModelPurchase {
    /// Where the purchase stands between two acts.
    enum Standing {
        /// A period is paid for, or about to begin.
        case running
        /// The last period ended without a successor.
        case lapsed
        /// The last period was taken back.
        case revoked
    }

    /// What really happened.
    var ledger: ModelLedger
    /// What was sent, in signed order.
    var sent: [ModelNotification] = []
    /// When, in epoch milliseconds, the customer buys once more under a new original transaction.
    var boughtAgainAt: Int64?
    /// How many notifications the life should have; it may overshoot by a few.
    var target: Int

    var random: ModelRandom
    let isFamilyShared: Bool
    let mayBuyAgain: Bool
    var now: Int64
    var standing = Standing.running
    /// Every transaction so far, the newest last, as the store has it now.
    var transactions: [ModelTransaction]
    var renewal: ModelRenewal
    /// How many more things may happen before the current period ends.
    var actsLeft = 0
    /// Index of a transaction whose refund was asked for and not decided yet.
    var askedRefund: Int?
    /// Index of a refunded transaction whose refund might still be undone.
    var reversible: Int?

    /// Buys the first period at the instant, in epoch milliseconds, and lives until enough was sent.
    init(random source: ModelRandom, start: Int64, target: Int, isFamilyShared: Bool, mayBuyAgain: Bool) {
        random = source
        self.target = target
        self.isFamilyShared = isFamilyShared
        self.mayBuyAgain = mayBuyAgain
        now = start
        let plan = random.pick(ModelPlan.all)
        let identifier = String(random.between(200_000_000_000_000, 899_999_999_999_000))
        let token = random.chance(60) ? random.uuid() : nil
        var first = ModelTransaction(
            identifier, of: identifier, plan: plan, begins: start, firstBought: start + random.between(0, 2_000),
            reason: "PURCHASE", appAccountToken: token,
            offer: isFamilyShared ? nil : Self.firstOffer(for: plan, random: &random))
        first.isFamilyShared = isFamilyShared
        transactions = [first]
        renewal = ModelRenewal(after: first)
        ledger = ModelLedger(originalTransactionId: identifier)
        charge(first, at: start)
        send("SUBSCRIBED", "INITIAL_BUY", after: random.between(2, 20) * ModelTime.second)
        while sent.count < self.target {
            step()
        }
    }

    private static func firstOffer(for plan: ModelPlan, random: inout ModelRandom) -> ModelOffer? {
        switch random.between(0, 9) {
        case 0...2: .trial
        case 3: .introductoryPrice(of: plan)
        case 4: .freeWeeks(type: random.pick([2, 3]))
        default: nil
        }
    }

    /// Index of the newest transaction.
    var newest: Int { transactions.count - 1 }

    /// The newest transaction.
    var current: ModelTransaction {
        get { transactions[newest] }
        set { transactions[newest] = newValue }
    }

    /// Whether the newest period began long enough ago that nothing paid ahead is in the way.
    var hasBegun: Bool { now >= current.purchaseDate + ModelTime.hour }

    private mutating func step() {
        guard standing == .running else { return comeBack() }
        let room = current.expiresDate - 26 * ModelTime.hour - now
        guard actsLeft > 0, room > 2 * ModelTime.hour else { return meetSeam() }
        now += random.between(10 * ModelTime.minute, room / Int64(actsLeft))
        actsLeft -= 1
        act()
    }

    /// Makes the transaction the newest one, paid at the instant, and forgets what belonged to the old one.
    mutating func begin(_ transaction: ModelTransaction, chargedAt date: Int64, recentStart: Int64? = nil) {
        let token = renewal.appAccountToken
        let start = recentStart ?? renewal.recentStart
        transactions.append(transaction)
        renewal = ModelRenewal(after: transaction, recentStart: start)
        renewal.appAccountToken = token
        standing = .running
        charge(transaction, at: date)
    }

    private mutating func charge(_ transaction: ModelTransaction, at date: Int64) {
        let period = ModelLedger.Period(
            name: transaction.webOrderLineItemId, productId: transaction.plan.productId,
            begins: transaction.purchaseDate, ends: transaction.expiresDate,
            isTrial: transaction.offer?.isTrial ?? false, appAccountToken: transaction.appAccountToken)
        ledger.write(.charged(period), at: date)
        ledger.write(.renewing(true), at: date)
        let days = (transaction.expiresDate - transaction.purchaseDate) / ModelTime.day
        actsLeft = Int(random.between(0, days > 100 ? 5 : days > 10 ? 3 : 2))
    }

    /// A transaction of the plan under this purchase, with the next free number.
    mutating func transaction(
        _ plan: ModelPlan, begins: Int64, reason: String, offer: ModelOffer? = nil
    ) -> ModelTransaction {
        let last = Int64(current.transactionId) ?? 0
        var next = ModelTransaction(
            String(last + random.between(1, 900)), of: ledger.originalTransactionId, plan: plan, begins: begins,
            firstBought: transactions[0].originalPurchaseDate, reason: reason,
            appAccountToken: renewal.appAccountToken, offer: offer)
        next.isFamilyShared = isFamilyShared
        return next
    }

    /// Signs a notification so many milliseconds from now; the clock then stands there.
    ///
    /// The newest transaction goes along unless another one is named. Where the fact has no date of its own, `since` is
    /// when it really began to be so, in epoch milliseconds.
    mutating func send(
        _ type: String, _ subtype: String? = nil, about index: Int? = nil, after delay: Int64, since: Int64? = nil,
        consumptionRequestReason: String? = nil
    ) {
        // Two seconds apart at least: the records' own dates wander by less, so their order is never in doubt.
        now += max(delay, 2 * ModelTime.second)
        if let last = sent.last { now = max(now, last.signedDate + 2 * ModelTime.second) }
        let recordsSignedDate = random.chance(50) ? now : now + random.between(-1_500, 13)
        if let since { ledger.noteUntold(since..<max(now, recordsSignedDate) + 1) }
        sent.append(
            ModelNotification(
                type: type, subtype: subtype, uuid: random.uuid(), signedDate: now,
                recordsSignedDate: recordsSignedDate, status: ledger.truth(at: now)?.status,
                consumptionRequestReason: consumptionRequestReason, originalTransactionId: ledger.originalTransactionId,
                transactionJSON: transactions[index ?? newest].json(signedDate: recordsSignedDate),
                renewalJSON: renewal.json(signedDate: recordsSignedDate)))
    }

    /// A few seconds, in milliseconds.
    mutating func moment() -> Int64 {
        random.between(2 * ModelTime.second, 20 * ModelTime.second)
    }
}
