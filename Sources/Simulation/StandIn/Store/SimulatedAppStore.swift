import Base
import Foundation

/// The store: customers in both environments, what was signed for them, and what is due. One actor holds all state.
actor SimulatedAppStore {
    typealias Place = SimulatedApp.Environment

    let configuration: StandInConfiguration
    let authority: SimulatedAuthority
    /// Signs what is forged on purpose.
    let stranger: SimulatedAuthority
    var speed: StandInConfiguration.Speed
    var lossPercent: Double

    var customers = Tracked<String, Customer>()
    /// The customer of each transaction and of each download of the app, by its id.
    private var owners: [Place: [String: String]] = [.sandbox: [:], .production: [:]]
    var posts: [ListedPost] = []
    /// The posts whose delivery state has changed since it was saved.
    var movedPosts: Set<Int> = []
    /// Posts before this one are settled.
    private var firstOpenPost = 0
    var tests = Tracked<String, Int>()
    var massExtensions: [MassExtension] = []
    var extensionDates = Tracked<String, [Milliseconds]>()
    /// The customer of each receipt, by the receipt's digest.
    var receipts = Tracked<String, String>()
    /// The transactions that an app has finished, by their id: each as it stood then (``finish(_:)``).
    var finished = Tracked<String, Milliseconds>()
    var received: [JSONValue] = []
    var provoked: [Provocation] = []
    var forgeries = 0
    /// What is broken on purpose.
    private(set) var faults = MadeFaults()
    /// Its clock, as answers give it.
    nonisolated let answerClock = AnswerClock()
    var random: SeededGenerator
    var lanes = 0
    /// Speaks for the store where no customer does.
    var houses: [Place: SimulatedSubscriber]
    /// How far the store's clock is ahead of the machine's.
    var ahead: Milliseconds
    /// When the store lived last.
    var lived: Milliseconds?
    /// When something happens next by itself, and which customers that was found out of.
    var soonest: (instant: Milliseconds, version: Int) = (0, -1)
    /// When the shop was last read, and when it was last acted on: an act is dated after all that was seen before.
    private var (looked, acted): (Milliseconds, Milliseconds) = (0, 0)
    /// The latest date of all that was signed.
    private var foremost: Milliseconds = 0
    private let machine: @Sendable () -> Milliseconds
    /// Where the shop is kept.
    var file: StateFile?
    /// What the file says.
    var written = Written()

    /// An error that the next requests get instead of an answer.
    struct Provocation: Sendable, Hashable, Codable {
        var refusal: Refusal
        var count: Int
        /// Only for paths that begin so.
        var prefix: String
        /// `Retry-After` so far ahead, in milliseconds.
        var retryAfter: Int64?
    }

    /// A mass extension.
    struct MassExtension: Sendable, Hashable, Codable {
        let request: String
        let product: String
        let days: Int64
        let countries: Set<String>
        let place: Place
        var done: Milliseconds?
        var succeeded: Int64 = 0
        var failed: Int64 = 0
    }

    init(
        _ configuration: StandInConfiguration, authority: SimulatedAuthority, stranger: SimulatedAuthority,
        machine: @escaping @Sendable () -> Milliseconds
    ) {
        self.configuration = configuration
        self.authority = authority
        self.stranger = stranger
        self.machine = machine
        ahead = -Milliseconds.days(configuration.daysBehind)
        speed = configuration.speed
        lossPercent = configuration.lossPercent
        random = SeededGenerator(seed: configuration.seed)
        lanes = Self.firstLane(configuration.seed)
        var houses: [Place: SimulatedSubscriber] = [:]
        for place in Place.allCases {
            houses[place] = SimulatedSubscriber(
                app: configuration.app.in(place), lane: 99_999,
                seed: Self.houseSeed(configuration.seed, place))
            houses[place]?.signsAtOnce = true
        }
        self.houses = houses
    }

    /// Where the lanes of a shop's customers begin, apart from those of `Simulation`; identifiers keep their usual length.
    ///
    /// - Seeds that a person chooses: a hundred stretches of 100,000 lanes.
    /// - Seeds of chance (``StandInConfiguration/anySeed()``): anywhere in 29 million lanes. The identifiers of each
    ///   customer then begin anywhere in the lane, too, so that no two shops ever sell the same transaction.
    private static func firstLane(_ seed: UInt64) -> Int {
        guard StandInConfiguration.isChance(seed) else { return 20_000_000 + Int(seed % 100) * 100_000 }
        var random = SeededGenerator(seed: seed)
        return Int(random.number(in: 30_000_000...58_899_999))
    }

    /// The seed of what the shop says by itself, TEST. It is hashed twice: the first hash of the shop's own seed leads to its customers'.
    private static func houseSeed(_ seed: UInt64, _ place: Place) -> UInt64 {
        var random = SeededGenerator(seed: seed)
        random = SeededGenerator(seed: ~random.next())
        let sandbox = random.next()
        return place == .production ? random.next() : sandbox
    }

    private func firstNumber() -> Int64 {
        StandInConfiguration.isChance(configuration.seed) ? random.number(in: 0...8_999_999) : 0
    }

    /// The store's time.
    var now: Milliseconds { machine() + ahead }

    func advance(by milliseconds: Milliseconds) { ahead += max(0, milliseconds) }

    /// Sets another speed for all customers that have none of their own, from now on; periods that are paid for already end as
    /// planned.
    func change(speed: StandInConfiguration.Speed) {
        self.speed = speed
        for id in customers.keys where customers[id]?.speed == nil { apply(speed, to: id) }
    }

    /// Sets a customer's own speed, likewise; with nil it is the shop's again.
    func change(speed own: StandInConfiguration.Speed?, of customer: String) {
        customers[customer]?.speed = own
        apply(own ?? speed, to: customer)
    }

    /// How fast a customer lives.
    func speed(of customer: String) -> StandInConfiguration.Speed { customers[customer]?.speed ?? speed }

    private func apply(_ speed: StandInConfiguration.Speed, to id: String) {
        let habits = habits(speed)
        customers[id]?.subscriber.pace = speed.pace
        if customers[id]?.isLively == true { customers[id]?.life.habits = habits }
    }

    func setLoss(percent: Double) { lossPercent = percent }

    /// Sets a customer's own loss.
    func setLoss(percent: Double, of customer: String) { customers[customer]?.lossPercent = percent }

    /// How many percent of the posts like this one are lost.
    private func lossPercent(of post: ListedPost) -> Double {
        customer(of: post).flatMap { customers[$0]?.lossPercent } ?? lossPercent
    }

    /// The customer that a notification is about; nil where it is about none.
    func customer(of post: ListedPost) -> String? {
        post.notification.transaction.flatMap { owners[post.environment]?[$0.transactionId] }
    }

    func app(_ place: Place) -> SimulatedApp { configuration.app.in(place) }

    // MARK: - Customers

    /// A customer by name, made if there is none.
    func customer(_ name: String?, _ place: Place, isLively: Bool = false) -> String {
        let id = name ?? "customer-\(customers.count + 1)"
        if customers[id] == nil {
            let storefront = Storefront.all[Int(random.next() % UInt64(Storefront.all.count))]
            let subscriber = SimulatedSubscriber(
                app: app(place), storefront: storefront, appAccountToken: nil, lane: lanes, seed: random.next(),
                pace: speed.pace, firstNumber: firstNumber())
            lanes += 1
            let life = SimulatedLife(subscriber, random: SeededGenerator(seed: random.next()), habits: nil)
            enter(Customer(id: id, joined: now, isLively: isLively, life: life, firstPost: posts.count))
        }
        return id
    }

    /// Adds a customer, and indexes the customer's transactions.
    func enter(_ customer: Customer) {
        var customer = customer
        customer.subscriber.signsAtOnce = true
        if customer.isLively { customer.life.habits = habits(customer.speed ?? speed) }
        customers[customer.id] = customer
        owners[customer.place]?[customer.subscriber.appTransactionId] = customer.id
        claim(for: customer)
    }

    private func claim(for customer: Customer) {
        for item in customer.subscriber.allItems {
            owners[customer.place]?[customer.subscriber[item].transactionId] = customer.id
        }
    }

    func place(of customer: String) -> Place { customers[customer]?.place ?? .sandbox }

    /// The customer of an id: a transaction's, an original transaction's, or a download's.
    func owner(of id: String, _ place: Place) -> String? { owners[place]?[id] }

    /// Does something to a customer now, after all that was due before, and lists what Apple would say about it.
    ///
    /// - Parameter body: takes the customer and the instant, which is later than all that was seen of the shop before.
    @discardableResult
    func act<T: Sendable>(
        _ id: String, _ body: @Sendable (inout Customer, Milliseconds) throws -> T
    ) rethrows -> T? {
        acted = max(now, looked + 1, acted)
        catchUp(id, until: acted)
        return try change(id) { [acted] in try body(&$0, acted) }
    }

    /// Changes a customer, and lists what Apple would say about it.
    @discardableResult
    func change<T: Sendable>(_ id: String, _ body: @Sendable (inout Customer) throws -> T) rethrows -> T? {
        guard var customer = customers[id] else { return nil }
        let value = try body(&customer)
        claim(for: customer)
        for notification in customer.subscriber.takeNotifications() { list(notification, customer.place) }
        let isKnown = soonest.version == customers.version
        customers[id] = customer
        if isKnown { soonest = (min(soonest.instant, customer.life.nextInstant ?? .max), customers.version) }
        return value
    }

    /// Brings the shop up to now for a reader: what is read from here on is signed at the instant returned.
    func look() -> Milliseconds {
        liveByThemselves()
        let instant = max(now, acted)
        looked = max(looked, instant)
        return instant
    }

    /// For how long an answer is kept back, so that no caller sees anything before its date. Dates are ahead of now only
    /// where more happened within a millisecond than can be dated in it.
    var lead: Milliseconds { max(0, foremost - now) }

    /// Puts a notification on the list; it is posted once its signed date has come.
    @discardableResult
    func list(_ notification: UnsignedNotification, _ place: Place) -> Int {
        posts.append(
            ListedPost(
                notification: notification, environment: place,
                next: configuration.notifyURL == nil ? nil : notification.signedDate))
        movedPosts.insert(posts.count - 1)
        return posts.count - 1
    }

    // MARK: - Signing

    /// A compact JWS; by a stranger where a forgery was asked for.
    func sign(_ json: [UInt8]) -> String {
        if forgeries > 0 {
            forgeries -= 1
            return stranger.sign(json)
        }
        return authority.sign(json)
    }

    /// A transaction as it was at an instant of ``look()``, after which it was read.
    func signed(_ record: TransactionRecord, at instant: Milliseconds) -> String {
        var record = record
        record.signedDate = max(instant, record.signedDate)
        foremost = max(foremost, record.signedDate)
        return sign(record.json)
    }

    /// A renewal info, likewise.
    func signed(_ record: RenewalRecord, at instant: Milliseconds) -> String {
        var record = record
        record.signedDate = max(instant, record.signedDate)
        foremost = max(foremost, record.signedDate)
        return sign(record.json)
    }

    /// A receipt; by a stranger where a forgery was asked for.
    func signed(_ receipt: SimulatedReceipt) throws -> (bytes: [UInt8], isForged: Bool) {
        let isForged = forgeries > 0
        if isForged { forgeries -= 1 }
        return (try ReceiptSigner((isForged ? stranger : authority).chain).sign(receipt), isForged)
    }

    /// A notification as the history lists it.
    func signed(_ post: ListedPost) -> String {
        foremost = max(foremost, post.notification.signedDate)
        return post.notification.signed { sign($0) }
    }

    // MARK: - Posting

    /// Notifications to be posted now, at most so many; they are under way until ``posted(_:_:isFinal:)`` or
    /// ``notPosted(_:)``. The shop is saved before they are returned.
    func takePosts(_ limit: Int) throws -> [(index: Int, body: [UInt8])] {
        var taken: [(Int, [UInt8])] = []
        let instant = now
        while firstOpenPost < posts.count, posts[firstOpenPost].next == nil, !posts[firstOpenPost].isUnderWay {
            firstOpenPost += 1
        }
        for index in firstOpenPost..<posts.count where taken.count < limit {
            guard !posts[index].isUnderWay, let next = posts[index].next, next <= instant else { continue }
            posts[index].isUnderWay = true
            if let result = faults.postResult {
                posted(index, result)
                continue
            }
            let isLost = Double(random.next() % 10_000) < lossPercent(of: posts[index]) * 100
            if isLost {
                posted(index, "NO_RESPONSE")
            } else {
                taken.append((index, UnsignedNotification.postBody(posts[index].notification.signed(by: authority))))
            }
        }
        try save()
        return taken
    }

    /// An attempt was broken off by the stand-in itself: it is due as before.
    func notPosted(_ index: Int) { posts[index].isUnderWay = false }

    /// What came of an attempt. Production tries five times more, after 1, 12, 24, 48 and 72 hours; a 4xx is not tried again, and
    /// Sandbox tries once.
    func posted(_ index: Int, _ result: String, isFinal: Bool = false) {
        posts[index].isUnderWay = false
        movedPosts.insert(index)
        posts[index].attempts.append(.init(instant: now, result: result))
        let waits: [Int64] = [1, 12, 24, 48, 72]
        let made = posts[index].attempts.count
        guard result != "SUCCESS", !isFinal, posts[index].environment == .production, made <= waits.count else {
            posts[index].next = nil
            return
        }
        posts[index].next = now + max(1, waits[made - 1] * 3_600_000 / speed.pace)
    }

    // MARK: - Errors on purpose

    /// The error that was provoked for this path, if there is one.
    func provocation(_ path: String) -> Refusal? {
        guard let index = provoked.firstIndex(where: { $0.count > 0 && path.hasPrefix($0.prefix) }) else { return nil }
        provoked[index].count -= 1
        var refusal = provoked[index].refusal
        refusal.retryAfter = provoked[index].retryAfter.map { machine() + $0 }
        if provoked[index].count == 0 { provoked.remove(at: index) }
        return refusal
    }

    func provoke(_ provocation: Provocation) { provoked.append(provocation) }
    func set(_ faults: MadeFaults) {
        self.faults = faults
        answerClock.secondsAhead = faults.clockAheadSeconds
    }

    func forge(_ count: Int) { forgeries += count }
    func note(_ value: JSONValue) { received.append(value) }
}
