import Base
import StandInSupport
import TestSupport

@testable import Simulation

/// Follows a shop from instant to instant: lets its customers live, posts what arrives of what the shop says, lets two programs hear it, and
/// compares. One of the programs has a key for Apple.
struct ShopFollower {
    /// A notification on its way.
    private struct Letter {
        var index: Int
        var due: Milliseconds
        var customer: String?
        var isLate = false
    }

    /// Something that a program says otherwise than the shop.
    private struct Difference: Hashable {
        var customer: String
        var product: String
        /// The shop holds it paid for, and the program gives no access.
        var isMissing: Bool
    }

    /// What was done, and what came of it.
    struct Figures {
        var lives = 0
        var steps = 0
        var notifications = 0
        var lost = 0
        var late = 0
        var comparisons = 0
        var judged = 0
        var statuses = 0
        var withoutKey = 0
        /// How often a program was behind the shop within what is allowed, and how long at the longest, in milliseconds.
        var healed = 0
        var longestMissing: Milliseconds = 0
        var longestExtra: Milliseconds = 0
        var types: Set<String> = []
        var disagreements: [String] = []
    }

    /// So long after its end a period may still give access where the renewal may only be late, and until the next look.
    private static let leeway: Milliseconds = .seconds(600 + 20)
    /// When a refresh is due after an end: a fifth of the leeway, and one round of the duty.
    private static let refreshed: Milliseconds = .seconds(120 + 75)
    /// When an hour is compared with Apple's list after its end, and after its beginning.
    private static let reconciled: Milliseconds = .seconds(600 + 40)
    private static let interval: Milliseconds = .hours(1) + reconciled + .seconds(20)

    let store: SimulatedAppStore
    let clock: ManualClock
    let transport: ShopTransport
    let keyed: ShopListener
    let keyless: ShopListener
    let library: AppleLibrary
    /// Of how many comparisons Apple's library makes one.
    let judgedOneIn: UInt64

    private(set) var figures = Figures()
    private var tokens: [String: UniqueIdentifier] = [:]
    private var letters: [Letter] = []
    private var listed = 0
    /// Which customers are to be looked at, by when.
    private var agenda: [Milliseconds: Set<String>] = [:]
    /// Hours in which something was lost, by when they are compared.
    private var hours: [Milliseconds: Milliseconds] = [:]
    private var missed: [String: [Milliseconds]] = [:]
    private var truths: [String: ShopTruth] = [:]
    private var differences: [Difference: Milliseconds] = [:]

    init(
        _ store: SimulatedAppStore, _ clock: ManualClock, _ transport: ShopTransport, keyed: ShopListener,
        keyless: ShopListener, _ library: AppleLibrary, judgedOneIn: UInt64
    ) {
        (self.store, self.clock, self.transport, self.library) = (store, clock, transport, library)
        (self.keyed, self.keyless, self.judgedOneIn) = (keyed, keyless, judgedOneIn)
    }

    // MARK: - Lives

    /// A customer who lives by the seed alone, whatever other customers there are.
    mutating func add(_ seed: UInt64, bornAt birth: Milliseconds) async throws {
        let text = "7f1de78e-0d4e-4c5e-9d3c-" + String(String(1_000_000_000_000 + seed).suffix(12))
        guard let token = UniqueIdentifier(text) else { throw NeverHappened("a UUID: \(text)") }
        let id = "life-\(seed)"
        await store.enter(
            Customer(id, by: seed, token: text, bornAt: birth, in: await store.app(.production)))
        await store.change(id) { $0.life.begin(at: birth) }
        tokens[id] = token
        figures.lives += 1
    }

    /// Goes on until an instant.
    mutating func follow(until end: Milliseconds) async throws {
        while let next = await nextInstant(), next <= end { try await step(to: next) }
    }

    /// The next instant at which there is something to do, in whole ten seconds.
    private func nextInstant() async -> Milliseconds? {
        let life = await store.customers.values.compactMap(\.life.nextInstant).min()
        let due = [life, letters.map(\.due).min(), agenda.keys.min(), hours.keys.min()].compactMap(\.self).min()
        guard let due else { return nil }
        return max(Self.round(due), clock.millisecondsSince1970 + 10_000)
    }

    private static func round(_ instant: Milliseconds) -> Milliseconds { (instant + 9999) / 10_000 * 10_000 }

    private mutating func step(to now: Milliseconds) async throws {
        figures.steps += 1
        clock.set(millisecondsSince1970: now)
        for listener in [keyed, keyless] { try await listener.pool.setInstant(now) }
        await store.live()
        try await list()
        var looked = Set<String>()
        for instant in agenda.keys where instant <= now { looked.formUnion(agenda.removeValue(forKey: instant) ?? []) }
        let arrived = letters.filter { $0.due <= now }.sorted { ($0.due, $0.index) < ($1.due, $1.index) }
        letters.removeAll { $0.due <= now }
        looked.formUnion(arrived.compactMap(\.customer))
        var posts: [String] = []
        for letter in arrived {
            await store.posted(letter.index, "SUCCESS", isFinal: true)
            posts.append(await store.signed(store.posts[letter.index]))
        }
        try await keyed.hear(posts)
        try await keyed.refresh()
        for instant in hours.keys.sorted() where instant <= now {
            guard let hour = hours.removeValue(forKey: instant) else { continue }
            try await keyed.reconcile(hourBeginningAt: hour)
            try await keyed.refresh()
        }
        try await keyless.hear(posts)
        looked.formUnion(differences.keys.map(\.customer))
        for id in looked { await watch(id, after: now) }
        try await compare(looked.sorted(), at: now)
        try await compareWithoutKey(arrived.filter { !$0.isLate }, at: now)
    }

    /// Decides of each new notification whether it arrives: one in five never, one in twenty an hour late.
    private mutating func list() async throws {
        let posts = await store.posts
        for index in listed..<posts.count {
            let notification = posts[index].notification
            let customer = await owner(of: notification)
            let chance = Self.hash(notification.uuid) % 100
            figures.notifications += 1
            figures.types.insert([notification.type, notification.subtype].compactMap(\.self).joined(separator: "/"))
            if chance < 25, let customer { missed[customer, default: []].append(notification.signedDate) }
            switch chance {
            case 0..<20:
                figures.lost += 1
                await store.posted(index, "NO_RESPONSE", isFinal: true)
                let hour = notification.signedDate / .hours(1) * .hours(1)
                hours[hour + .hours(1) + Self.reconciled] = hour
            case 20..<25:
                figures.late += 1
                letters.append(
                    Letter(index: index, due: notification.signedDate + .hours(1), customer: customer, isLate: true))
            default: letters.append(Letter(index: index, due: notification.signedDate, customer: customer))
            }
            if let customer { agenda[Self.round(notification.signedDate), default: []].insert(customer) }
        }
        listed = posts.count
    }

    private func owner(of notification: UnsignedNotification) async -> String? {
        guard let id = notification.transaction?.transactionId else { return nil }
        return await store.owner(of: id, .production)
    }

    /// FNV-1a: the same in each run.
    private static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 } >> 20
    }

    /// Looks at a customer again at each end of what he has: at once, when Apple was asked, and when nothing is waited for any more.
    private mutating func watch(_ id: String, after now: Milliseconds) async {
        guard let customer = await store.customers[id] else { return }
        for line in customer.subscriber.allLines {
            let state = customer.subscriber[line]
            var ends = [state.expiresDate, state.purchaseDate]
            if state.phase == .gracePeriod { ends.append(customer.subscriber.graceEnd(of: line)) }
            for end in ends {
                for wait in [0, Self.refreshed, Self.leeway] where end + wait > now {
                    agenda[Self.round(end + wait), default: []].insert(id)
                }
            }
        }
        for item in customer.subscriber.allItems where customer.subscriber[item].type == "Non-Renewing Subscription" {
            let end = customer.subscriber[item].purchaseDate + .days(ShopListener.seasonDays)
            if end > now { agenda[Self.round(end), default: []].insert(id) }
        }
    }

    // MARK: - Comparing

    private func missedLately(_ id: String, at now: Milliseconds) -> Bool {
        missed[id]?.contains { $0 > now - Self.interval } ?? false
    }

    private mutating func compare(_ ids: [String], at now: Milliseconds) async throws {
        // Apple's clock of signing runs some seconds behind events: no listener can know yet.
        let underWay = Set(letters.filter { !$0.isLate }.compactMap(\.customer))
        let ids = ids.filter { !underWay.contains($0) }
        guard !ids.isEmpty else { return }
        let readings = try await keyed.read(ids.compactMap { tokens[$0] }, at: now)
        var quiet: [(id: String, truth: ShopTruth)] = []
        for id in ids {
            guard let token = tokens[id], let reading = readings[token], let customer = await store.customers[id] else {
                continue
            }
            figures.comparisons += 1
            let truth = ShopTruth(customer, at: now)
            if Set(reading.said.values).count != 1 || reading.listed != reading.products {
                await fail(id, "readers differ at \(now): \(reading.said), \(reading.products) and \(reading.listed)")
            }
            let tier = reading.products.compactMap { ShopListener.tiers[$0] }.max { $0.count < $1.count } ?? "free"
            if let said = reading.said["rules"], said.tier != tier || said.access != (tier != "free") {
                await fail(id, "at \(now) the account is \(said) with \(reading.products)")
            }
            let isSame = await hold(reading.products, against: truth, of: id, at: now)
            if isSame, !missedLately(id, at: now), !isWaiting(customer, at: now) { quiet.append((id, truth)) }
            truths[id] = truth
        }
        try await compareStatuses(quiet, at: now)
        try await judge(quiet, at: now)
    }

    /// Whether a period has ended so lately that its renewal may be waited for.
    private func isWaiting(_ customer: Customer, at now: Milliseconds) -> Bool {
        customer.subscriber.allLines.contains { line in
            let end = customer.subscriber[line].expiresDate
            return end <= now && now < end + Self.leeway
        }
    }

    /// - Returns: whether they are the same.
    private mutating func hold(
        _ products: Set<String>, against truth: ShopTruth, of id: String, at now: Milliseconds
    ) async -> Bool {
        var found: Set<Difference> = []
        for product in truth.products.subtracting(products) {
            found.insert(Difference(customer: id, product: product, isMissing: true))
        }
        for product in products.subtracting(truth.products) {
            found.insert(Difference(customer: id, product: product, isMissing: false))
        }
        for difference in differences.keys where difference.customer == id && !found.contains(difference) {
            differences[difference] = nil
            figures.healed += 1
        }
        for difference in found {
            let isNew = differences[difference] == nil
            let since = differences[difference] ?? now
            let allowed: Milliseconds
            if difference.isMissing {
                // Who had it before, and has paid on, never lacks it: but for an upgrade that did not arrive, in the place of a downgrade
                // that had been charged ahead. Then Apple has signed that the other product runs.
                let isSeam =
                    isNew && truths[id]?.products.contains(difference.product) == true
                    && !truth.replacing.contains(difference.product)
                allowed = isSeam ? -1 : missedLately(id, at: since) ? Self.interval : -1
                figures.longestMissing = max(figures.longestMissing, now - since)
            } else {
                allowed = missedLately(id, at: since) ? Self.interval : Self.leeway
                figures.longestExtra = max(figures.longestExtra, now - since)
            }
            if now - since > allowed {
                await fail(
                    id,
                    "at \(now), since \(since), \(difference.isMissing ? "no access to" : "access to") \(difference.product): "
                        + "\(products) for \(truth)")
            }
            if isNew { differences[difference] = now }
            if allowed > 0 { agenda[Self.round(since + allowed + 1), default: []].insert(id) }
        }
        return found.isEmpty
    }

    private mutating func compareStatuses(_ quiet: [(id: String, truth: ShopTruth)], at now: Milliseconds) async throws
    {
        let read = try await keyed.statuses(of: quiet.flatMap(\.truth.statuses.keys))
        for (id, truth) in quiet {
            for (line, status) in truth.statuses {
                figures.statuses += 1
                if read[line]?.status != status {
                    await fail(id, "at \(now) \(line) is \(read[line]?.status ?? 0), at Apple \(status)")
                }
                if let end = truth.ends[line], read[line]?.end != end {
                    await fail(id, "at \(now) the period of \(line) ends \(read[line]?.end ?? 0), at Apple \(end)")
                }
            }
        }
    }

    /// Has Apple's library read some of the same.
    private mutating func judge(_ quiet: [(id: String, truth: ShopTruth)], at now: Milliseconds) async throws {
        let chosen = quiet.filter { id, truth in
            !truth.statuses.isEmpty && Self.hash("\(id) \(now)") % judgedOneIn == 0
        }
        guard !chosen.isEmpty else { return }
        let asked = chosen.compactMap { $0.truth.statuses.keys.min() }
        for ((id, truth), lines) in zip(chosen, try await library.lines(of: asked)) {
            figures.judged += 1
            let statuses = Dictionary(uniqueKeysWithValues: lines.map { ($0.originalTransactionId, Int($0.status)) })
            if statuses != truth.statuses { await fail(id, "at \(now) Apple's library reads \(statuses) for \(truth)") }
            for line in lines where [1, 4].contains(line.status) && line.purchaseDate <= now {
                if truth.covered[line.originalTransactionId] != line.productId {
                    await fail(id, "at \(now) Apple's library reads \(line) for \(truth)")
                }
            }
        }
    }

    /// Without a key a payer lacks access no longer than until the next post about it.
    private mutating func compareWithoutKey(_ arrived: [Letter], at now: Milliseconds) async throws {
        let underWay = Set(letters.filter { !$0.isLate }.compactMap(\.customer))
        let heard = arrived.filter { $0.customer.map { !underWay.contains($0) } ?? false }
        guard !heard.isEmpty else { return }
        let read = try await keyless.products(of: Set(heard.compactMap(\.customer)).compactMap { tokens[$0] })
        for letter in heard {
            guard let id = letter.customer, let token = tokens[id], let customer = await store.customers[id],
                let renewal = await store.posts[letter.index].notification.renewal,
                let product = ShopTruth(customer, at: now).covered[renewal.originalTransactionId]
            else { continue }
            figures.withoutKey += 1
            // A post about a plan to come does not name the one that runs: then any access has to do.
            let isNamed = renewal.productId == product
            let products = read[token] ?? []
            if isNamed ? products.isDisjoint(with: ShopListener.short([product])) : products.isEmpty {
                await fail(id, "at \(now) without a key no access to \(product) after a post: \(read[token] ?? [])")
            }
        }
    }

    private mutating func fail(_ id: String, _ what: String) async {
        figures.disagreements.append("\(id): \(what)\n\(await story(of: id))")
    }

    /// What was said of a customer.
    func story(of id: String) async -> String {
        var lines: [String] = []
        for post in await store.posts {
            guard await owner(of: post.notification) == id else { continue }
            let notification = post.notification
            let transaction = notification.transaction
            let chance = Self.hash(notification.uuid) % 100
            lines.append(
                """
                  \(notification.signedDate) \(notification.type)/\(notification.subtype ?? "") \
                \(chance < 20 ? "lost" : chance < 25 ? "late" : "") status \(notification.appleStatus ?? 0) \
                \(transaction?.originalTransactionId ?? "") \(transaction?.transactionId ?? "") \
                \(transaction.map { ShopListener.short([$0.productId]).joined() } ?? "") \(transaction?.purchaseDate ?? 0)-\
                \(transaction?.expiresDate ?? 0) revoked \(transaction?.revocationDate ?? 0) renew \
                \(notification.renewal?.autoRenewStatus ?? -1) retry \(notification.renewal?.isInBillingRetryPeriod.map { "\($0)" } ?? "-") \
                grace \(notification.renewal.map { "\($0.gracePeriodExpiresDate)" } ?? "-")
                """)
        }
        return lines.joined(separator: "\n")
    }
}
