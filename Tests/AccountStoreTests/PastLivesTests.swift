import AccountStore
import AppStorePayloads
import Base
import Foundation
import Postgres
import PurchaseStore
import StoreModel
import Subscriptions
import TestSupport
import Testing

/// What accounts were at instants that are over, against what was answered at those instants.
///
/// Random lives are heard in the order in which their messages arrive: some late, some never, with records that Apple
/// signed again. At ten instants all accounts are asked for in one call, and again at the end.
struct PastLivesTests {
    private static let leeway = ModelTime.hour

    @Test(
        "an instant that is over is answered as it was then, but for what Apple said later with a date of its own"
    )
    func past() async throws {
        var generator = SeededGenerator()
        // By default one in so many.
        let share = 20
        let seeds = sampledSeeds(of: 200, oneIn: UInt64(share))
        var lives = seeds.map { AccountLifeMaker.life(seed: $0, number: Int($0), leeway: Self.leeway) }
        // Both what an account's row keeps and what has left it are asked for.
        let end = Int64(Date.now.timeIntervalSince1970) * 1_000 - 2 * ModelTime.day
        let last = lives.map { Self.lastInstant(of: $0) }.max() ?? end
        lives = lives.map { $0.moved(by: end - last) }
        let heard = lives.map { HeardLife($0, seed: generator.seed) }
        let arrivals = heard.enumerated().flatMap { place, life in life.arrivals.map { (place, $0) } }
            .sorted { ($0.1.at, $0.1.order, $0.0) < ($1.1.at, $1.1.order, $1.0) }
        let first = arrivals.first?.1.at ?? end
        let instants = (0..<10).map { _ in Int64.random(in: first + 20 * ModelTime.day...end, using: &generator) }
            .sorted()
        let seed = generator.seed
        try await AccountDatabase.with { database in
            var database = database
            database.ledger = Ledger(policy: StatusPolicy(renewalLeewaySeconds: Self.leeway / 1_000))
            _ = try await database.store.apply(LifeRows.catalog, by: "test")
            var rest = arrivals[...]
            var answered: [[String: Answer]] = []
            for instant in instants {
                let due = rest.prefix { $0.1.at <= instant }
                try await Self.hear(Array(due), of: lives, database)
                rest = rest.dropFirst(due.count)
                answered.append(try await Self.ask(at: instant, database))
            }
            try await Self.hear(Array(rest), of: lives, database)
            #expect(try await database.stale().isEmpty)
            var (same, changed, access) = (0, 0, 0)
            var different: Set<Int> = []
            for (instant, then) in zip(instants, answered) {
                let now = try await Self.ask(at: instant, database)
                for (place, life) in heard.enumerated() {
                    let told = now[life.account] ?? Answer()
                    let said = then[life.account] ?? Answer()
                    if told.access { access += 1 }
                    let expected: Answer
                    if life.hasDatedNews(after: instant) {
                        changed += 1
                        expected = told.saying(as: AccountModel(life.dated(at: instant)).verdict(at: instant))
                    } else if life.movesEnds(after: instant) {
                        same += 1
                        // Of two sources of one tier the answer names the one that ends last: that may be another one now.
                        let verdict = AccountModel(life.dated(at: instant)).verdict(at: instant)
                        let isSame = verdict.source == said.source && told.purchase == said.purchase
                        expected = !verdict.access || isSame ? said.ending(as: told) : told.saying(as: verdict)
                    } else {
                        same += 1
                        expected = said
                    }
                    if told != expected, different.insert(place).inserted {
                        Issue.record(
                            """
                            life \(lives[place].seed), seed \(seed), at \(instant): \(told)
                            is to be \(expected),
                            was \(said)
                            \(life.story)
                            """)
                    }
                }
            }
            print("past lives: \(same) as they were, \(changed) with dated news, \(access) with access")
            #expect(
                isEnough(same, of: 1_000, oneIn: share) && isEnough(changed, of: 40, oneIn: share)
                    && isEnough(access, of: 150, oneIn: share))
        }
    }

    private static func lastInstant(of life: AccountLife) -> Int64 {
        let bindings = life.bindings.values.flatMap { $0.map(\.at) }
        return (life.messages.map(\.signed) + bindings + life.acts.map(\.at)).max() ?? 0
    }

    /// All accounts at an instant, in one call.
    private static func ask(at instant: Int64, _ database: AccountDatabase) async throws -> [String: Answer] {
        let rows = try await database.pool.query(
            """
            select token, status, tier, source, product_id, original_transaction_id, expires_at, will_renew, in_trial
              from storehook.account_status_at(\(PostgresTimestamp(millisecondsSince1970: instant)))
             where environment = 'Production'
            """)
        var answers: [String: Answer] = [:]
        for row in rows {
            let token: UUID = try row.decode("token")
            let old = answers.updateValue(try Answer(row), forKey: token.uuidString.lowercased())
            #expect(old == nil, "one row of each account")
        }
        return answers
    }

    /// Hears what arrives: messages in batches, as a worker drains them, and what people did alone.
    private static func hear(
        _ arrivals: [(Int, Arrival)], of lives: [AccountLife], _ database: AccountDatabase
    ) async throws {
        var batch: [LedgerEntry] = []
        func drain() async throws {
            if !batch.isEmpty { try await database.apply(batch) }
            batch = []
        }
        for (place, arrival) in arrivals {
            var part = lives[place]
            (part.bindings, part.acts, part.trial) = ([:], [], nil)
            switch arrival.what {
            case .message(let message):
                batch.append(try LifeRows.entry(message))
                if batch.count == 20 { try await drain() }
                continue
            case .binding(let line, let binding): part.bindings = [line: [binding]]
            case .act(let act): part.acts = [act]
            case .trial: part.trial = lives[place].trial
            }
            try await drain()
            try await LifeRows.write(part, database)
        }
        try await drain()
    }
}

/// What `account_status_at` says of an account, as far as it is to stand.
private struct Answer: Equatable {
    var status = "free"
    var tier = "free"
    var access: Bool { ["active", "trial", "cancelled", "grace_period"].contains(status) }
    /// What gives access.
    var source = "none"
    var product: String?
    var purchase: String?
    var expiresAt: PostgresTimestamp?
    var willRenew: Bool?
    var isTrial: Bool?

    /// What is said where there is no row.
    init() {}

    init(_ row: PostgresRow) throws {
        (status, tier) = (try row.decode("status"), try row.decode("tier"))
        source = try row.decode("source")
        (product, purchase) = (try row.decode("product_id"), try row.decode("original_transaction_id"))
        expiresAt = try row.decode("expires_at")
        if access { (willRenew, isTrial) = (try row.decode("will_renew"), try row.decode("in_trial")) }
    }

    /// This answer with the status, tier and source of the model's.
    func saying(as verdict: AccountVerdict) -> Answer {
        var answer = self
        (answer.status, answer.tier) = (verdict.status, verdict.tier)
        if verdict.access { answer.source = verdict.source }
        return answer
    }

    /// This answer with the end of another.
    func ending(as other: Answer) -> Answer {
        var answer = self
        answer.expiresAt = other.expiresAt
        return answer
    }
}

/// Something that arrives.
private struct Arrival {
    enum What {
        case message(LifeMessage)
        case binding(String, LifeBinding)
        case act(LifeAct)
        case trial
    }

    var at: Int64
    var what: What

    /// What is heard goes before what is done in the same moment, as a proof hands in what it proves.
    var order: Int {
        switch what {
        case .message: 0
        case .binding(_, let binding): Int(binding.id)
        case .act(let act): 1_000 + Int(act.id)
        case .trial: 2_000
        }
    }
}

/// A life with the instants at which its messages are heard; some never are.
private struct HeardLife {
    private static let nobody = "00000000-0000-0000-0000-000000000000"

    private var life: AccountLife
    private var heard: [(at: Int64, message: LifeMessage)] = []

    var account: String { life.account }

    init(_ life: AccountLife, seed: UInt64) {
        self.life = life
        var random = ModelRandom(seed: seed &+ life.seed &* 0x9E37)
        var known: Set<String> = []
        var heard: [(at: Int64, message: LifeMessage)] = []
        for message in life.messages.sorted(by: { $0.signed < $1.signed }) {
            var at = message.signed + random.between(1, 20) * ModelTime.second
            // A purchase that was never heard of cannot be proven.
            if !known.insert(message.line).inserted {
                if random.chance(6) { continue }
                if random.chance(15) { at += random.between(ModelTime.hour, 45 * ModelTime.day) }
            }
            heard.append((at, message))
            if let again = Self.again(message, of: life, &random) {
                heard.append((again.signed + random.between(1, 20) * ModelTime.second, again))
            }
        }
        self.heard = heard
    }

    /// The same transaction, signed again later: with another token, or with a later date of its refund.
    private static func again(
        _ message: LifeMessage, of life: AccountLife, _ random: inout ModelRandom
    ) -> LifeMessage? {
        guard let told = message.transaction else { return nil }
        let signed = message.signed + random.between(ModelTime.hour, 40 * ModelTime.day)
        let others = life.messages.filter { $0.transaction?.id == told.id }
        // It says what is true by then.
        guard var record = others.last(where: { $0.signed <= signed })?.transaction else { return nil }
        record.signed = signed
        if let revoked = told.revoked {
            guard random.chance(40), record.revoked == revoked else { return nil }
            record.revoked = random.between(revoked + ModelTime.minute, signed)
        } else {
            guard random.chance(12) else { return nil }
            let other = "b" + life.account.dropFirst()
            record.token = record.token == life.account ? other : life.account
        }
        // A token stays, whatever other one takes its place.
        let isLost = others.contains { other in
            message.signed < other.signed && [nil, nobody].contains(other.transaction?.token)
        }
        if isLost { return nil }
        var again = message
        (again.name, again.signed, again.transaction) = ("signed again", record.signed, record)
        (again.status, again.renewal) = (nil, nil)
        return again
    }

    var arrivals: [Arrival] {
        heard.map { Arrival(at: $0.at, what: .message($0.message)) }
            + life.bindings.flatMap { line, bindings in
                bindings.map { Arrival(at: $0.at + 30 * ModelTime.second, what: .binding(line, $0)) }
            }
            + life.acts.map { Arrival(at: $0.at, what: .act($0)) }
            + (life.trial.map { [Arrival(at: $0.starts, what: .trial)] } ?? [])
    }

    private func known(_ id: String, at instant: Int64) -> [LifeTransaction] {
        heard.filter { $0.at <= instant && $0.message.transaction?.id == id }.compactMap(\.message.transaction)
            .sorted { $0.signed < $1.signed }
    }

    /// Whether something was heard after an instant that is dated at or before it: signed, bought, taken back, an end that it
    /// moves, or the first token of a purchase.
    func hasDatedNews(after instant: Int64) -> Bool {
        // What is recorded of a proof comes half a minute after its date.
        if life.bindings.values.contains(where: {
            $0.contains { $0.at <= instant && instant < $0.at + 30 * ModelTime.second }
        }) {
            return true
        }
        return heard.contains { at, message in
            guard at > instant else { return false }
            if message.signed <= instant { return true }
            guard let record = message.transaction else { return false }
            let known = known(record.id, at: instant)
            if known.isEmpty { return record.purchased <= instant }
            if known.allSatisfy({ $0.token == nil || $0.token == Self.nobody }), record.token != nil { return true }
            if let known = known.last, known.expires != record.expires,
                min(known.expires ?? .max, record.expires ?? .max) <= instant
            {
                return true
            }
            return (record.revoked.map { $0 <= instant } ?? false) && known.last?.revoked == nil
        }
    }

    /// Whether the end of a period that is known, and lies ahead, was moved later; the end has a date of its own.
    func movesEnds(after instant: Int64) -> Bool {
        heard.contains { at, message in
            guard at > instant, let record = message.transaction else { return false }
            return known(record.id, at: instant).last.map { $0.expires != record.expires } ?? false
        }
    }

    /// What was heard by an instant, and later with a date of its own.
    func dated(at instant: Int64) -> AccountLife {
        var life = life
        life.messages = heard.map { at, message in
            guard at > instant, message.signed > instant else { return message }
            var message = message
            (message.status, message.renewal) = (nil, nil)
            return message
        }
        life.bindings = life.bindings.mapValues { $0.filter { $0.at <= instant } }
        life.acts.removeAll { $0.at > instant }
        return life
    }

    var story: String {
        var whole = life
        whole.messages = heard.map(\.message)
        let begin = whole.messages.map(\.signed).min() ?? 0
        let late = heard.filter { $0.at - $0.message.signed > ModelTime.minute }.map { at, message in
            "\(message.name) of \(message.signed) heard \(at), day \((at - begin) / ModelTime.day)"
        }
        return whole.story + "\nlate: \(late.joined(separator: ", "))"
    }
}
