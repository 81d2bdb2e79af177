import AccountStore
import Accounts
import AppStorePayloads
import Base
import Crypto
import Foundation
import HTTPTypes
import Postgres
import PurchaseStore
import StoreModel
import Subscriptions
import TestSupport
import Testing

/// Random lives in one database, and everybody who reads accounts there, against the independent model.
struct LifeReadersTests {
    /// What the lives have in them.
    private static let features: Set<LifeFeature> = [.replacedRenewals, .claims, .acts, .refundedThings]

    @Test(
        "whoever reads an account reads what the model says, just before, at and just after borders of random lives, heard in any order",
        arguments: sampled([[], [.seats, .boughtAgain], [.erasedAccount]] as [Set<LifeFeature>]))
    func readers(_ more: Set<LifeFeature>) async throws {
        var generator = SeededGenerator()
        let lives = sampledSeeds(of: more.isEmpty ? 300 : 150, oneIn: 30).map {
            AccountLifeMaker.life(seed: $0, number: Int($0), with: Self.features.union(more), leeway: 0)
        }
        let messages = lives.flatMap(\.messages).shuffled(using: &generator)
        let borders = lives.map { life in
            AccountModel(life).borders.shuffled(using: &generator).prefix(takesAllSamples ? 20 : 8).sorted().flatMap {
                [$0 - 1, $0, $0 + 1]
            }
        }
        let seed = generator.seed
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(LifeRows.catalog, by: "test")
            for batch in try messages.map(LifeRows.entry).batches(of: 20) { try await database.apply(batch) }
            for life in lives { try await LifeRows.write(life, database) }
            #expect(try await database.stale().isEmpty)
            let handlers = LifeHandlers(database)
            var asked: [String: Int] = [:]
            for (life, instants) in zip(lives, borders) {
                let model = AccountModel(life)
                var different: Set<String> = []
                for instant in instants {
                    let expected = Said(model.verdict(at: instant))
                    for (reader, said) in try await Self.ask(
                        of: life, at: instant, expecting: expected, database, handlers)
                    {
                        asked[reader, default: 0] += 1
                        // One of a reader and life is enough.
                        if said != expected, different.insert(reader).inserted {
                            Issue.record(
                                "\(reader) at \(instant), seed \(seed): \(said) is to be \(expected)\n\(life.story)")
                        }
                    }
                }
            }
            for reader in ["command", "SQL", "API", "guard"] {
                #expect(isEnough(asked[reader] ?? 0, of: 500), "\(reader) was asked \(asked[reader] ?? 0) times")
            }
        }
    }

    /// What is compared.
    private struct Said: Hashable {
        var status = "free"
        var tier = "free"
        var access = false
        /// What gives access.
        var source: String?

        /// What is read where there is no row.
        init() {}

        init(_ phase: AccountPhase) {
            (status, tier, access) = (phase.status.rawValue, phase.tier, phase.access)
            source = phase.access ? phase.source.rawValue : nil
        }

        init(_ verdict: AccountVerdict) {
            (status, tier, access) = (verdict.status, verdict.tier, verdict.access)
            source = verdict.access ? verdict.source : nil
        }

        init(status: String, tier: String, access: Bool, source: String) {
            (self.status, self.tier, self.access) = (status, tier, access)
            self.source = access ? source : nil
        }
    }

    private static func ask(
        of life: AccountLife, at milliseconds: Int64, expecting expected: Said, _ database: AccountDatabase,
        _ handlers: LifeHandlers
    ) async throws -> [(reader: String, said: Said)] {
        guard let account = UniqueIdentifier(life.account) else { return [] }
        let instant = Timestamp(millisecondsSince1970: milliseconds)
        let command = try await database.store.history(of: account, in: "Production", at: instant)?.current
        var told = [("command", command.map(Said.init) ?? Said())]
        let row = try await database.pool.query(
            """
            select status, tier, access, source from storehook.account_status_at(\(PostgresTimestamp(instant)))
             where token = \(UUID(account)) and environment = 'Production'
            """
        ).first
        let said = try row.map {
            Said(
                status: try $0.decode("status"), tier: try $0.decode("tier"), access: try $0.decode("access"),
                source: try $0.decode("source"))
        }
        told.append(("SQL", said ?? Said()))
        // The API and the guard speak of the present alone, by the latest phases.
        guard let begin = try await database.store.view(account, in: "Production").state.phases.first?.startsAt,
            begin <= instant
        else { return told }
        handlers.set(instant)
        let (path, name) = ("/v1/subscriptions/status", account.description)
        let (known, status) = (
            try await handlers.object("/v1/account", of: name), try await handlers.object(path, of: name)
        )
        told.append(
            (
                "API",
                Said(
                    status: known.string("status") ?? "", tier: known.string("tier") ?? "",
                    access: status.bool("hasActiveSubscription") ?? false, source: status.string("source") ?? "")
            ))
        var guarded = expected
        if let headers = try await handlers.passed(name) {
            guarded.access = true
            guarded.tier = HTTPField.Name("X-Storehook-Tier").flatMap { headers[$0] } ?? ""
            guarded.status = HTTPField.Name("X-Storehook-Status").flatMap { headers[$0] } ?? ""
        } else {
            guarded.access = false
        }
        told.append(("guard", guarded))
        return told
    }
}

/// A life of the model, as the store is handed it.
enum LifeRows {
    static let catalog = """
        app: \(ModelNotification.bundleId)
        tiers:
          - id: free
          - id: pro
          - id: premium
        products:
          - {id: basic, product_id: basic, tier: pro, period: month}
          - {id: solo, product_id: solo, tier: pro, period: month}
          - {id: plus, product_id: plus, tier: premium, period: month}
          - {id: forever, product_id: forever, tier: pro, period: lifetime}
          - {id: pass, product_id: pass, tier: premium, period: term, lasts: 10}

        """

    static func entry(_ message: LifeMessage) throws -> LedgerEntry {
        let transaction = try message.transaction.map {
            LedgerEntry.Signed(try TransactionPayload.decode($0.json), digest: digest($0.json))
        }
        let number = message.signed
        if message.status == nil, message.name == "handed in", let transaction {
            return LedgerEntry(
                outboxID: number, receivedAt: PostgresTimestamp(millisecondsSince1970: 0), source: .client,
                environment: ModelNotification.environment, bundleID: ModelNotification.bundleId,
                .transaction(transaction))
        }
        let uuid = UniqueIdentifier(high: UInt64(message.line) ?? 0, low: UInt64(message.signed))
        return LedgerEntry(
            outboxID: number, receivedAt: PostgresTimestamp(millisecondsSince1970: 0),
            environment: ModelNotification.environment, bundleID: ModelNotification.bundleId,
            notification: NotificationPayload(
                notificationType: .didRenew, notificationUUID: uuid.description, uuid: uuid,
                signedDate: Timestamp(millisecondsSince1970: message.signed),
                part: .data(NotificationData(status: message.status.map { AppleStatus(rawValue: Int64($0)) }))),
            transaction: transaction,
            renewal: try message.renewal.map {
                LedgerEntry.Signed(try RenewalInfoPayload.decode($0.json), digest: digest($0.json))
            })
    }

    /// Writes what people recorded, and derives what follows.
    static func write(_ life: AccountLife, _ database: AccountDatabase) async throws {
        guard let account = UniqueIdentifier(life.account) else { return }
        let keys = life.lines.map {
            PurchaseKey(
                environment: ModelNotification.environment, bundleID: ModelNotification.bundleId,
                originalTransactionID: $0)
        }
        try await database.pool.withTransaction { session in
            try Ledger.hold(keys.sorted(), session)
            _ = try database.store.settle([], naming: AccountIdentity(named: life.account), session)
            for key in keys {
                let bindings = (life.bindings[key.originalTransactionID] ?? []).sorted {
                    ($0.at, $0.id) < ($1.at, $1.id)
                }
                for binding in bindings {
                    guard let owner = UniqueIdentifier(binding.account) else { continue }
                    try session.query(
                        """
                        insert into storehook.purchase_bindings
                               (original_transaction_id, bundle_id, environment, kind, token, at, recorded_by, why)
                        values (\(key.originalTransactionID), \(key.bundleID), \(key.environment), \(binding.kind.rawValue),
                                \(UUID(owner)), \(time(binding.at)), 'test', 'test')
                        """)
                }
            }
            for act in life.acts.sorted(by: { ($0.at, $0.id) < ($1.at, $1.id) }) {
                let (kind, tier, days): (String, String?, Int32?) =
                    switch act.kind {
                    case .grant(let tier, let days): ("grant", tier, Int32(days))
                    case .extend(let days): ("extend", nil, Int32(days))
                    case .revoke: ("revoke", nil, nil)
                    case .unrevoke: ("unrevoke", nil, nil)
                    case .changeTier(let tier): ("change_tier", tier, nil)
                    }
                try session.query(
                    """
                    insert into storehook.staff_acts (token, kind, tier, days, at, recorded_by, why)
                    values (\(UUID(account)), \(kind), \(tier), \(days), \(time(act.at)), 'test', 'test')
                    """)
            }
            if let trial = life.trial {
                let token = life.erased.map { trial.starts > $0 } ?? true ? UUID(account) : nil
                try session.query(
                    """
                    insert into storehook.trials (account_hash, token, tier, started_at, ends_at)
                    values (sha256(convert_to(\(account.description), 'UTF8')), \(token), \(trial.tier),
                            \(time(trial.starts)), \(time(trial.ends)))
                    """)
            }
            if let erased = life.erased {
                try session.query(
                    "update storehook.accounts set account = null, erased_at = \(time(erased)) where token = \(UUID(account))"
                )
                try session.query("delete from storehook.account_history where token = \(UUID(account))")
            }
            _ = try database.store.settle(keys.sorted(), naming: AccountIdentity(named: life.account), session)
        }
    }

    private static func time(_ milliseconds: Int64) -> PostgresTimestamp {
        PostgresTimestamp(Timestamp(millisecondsSince1970: milliseconds))
    }

    private static func digest(_ json: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: json)) }
}
