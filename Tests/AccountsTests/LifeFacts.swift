import Accounts
import AppStorePayloads
import Base
import Crypto
import StoreModel
import Subscriptions

/// A life of the second model, as the rules are handed it.
struct LifeFacts {
    /// The catalogs, one after the other.
    let catalogs: CatalogTimeline
    let facts: AccountFacts
    /// Each line of subscriptions by itself.
    private(set) var subscriptions: [String: SubscriptionState] = [:]
    /// Each thing that was bought once.
    private(set) var things: [String: OneTimePurchase] = [:]

    init(_ life: AccountLife, heard messages: [LifeMessage]) throws {
        var catalogs = CatalogTimeline(Self.catalog(life.catalog))
        for change in life.laterCatalogs {
            catalogs.append(Self.catalog(change.catalog), from: Timestamp(millisecondsSince1970: change.from))
        }
        self.catalogs = catalogs
        var purchases: [String: PurchaseFacts] = [:]
        for message in messages { try Self.merge(message, into: &purchases[message.line, default: PurchaseFacts()]) }
        let policy = StatusPolicy(renewalLeewaySeconds: life.leeway / 1000)
        var lines: [AccountLine] = []
        for (line, facts) in purchases {
            let state = PurchaseState(facts, policy: policy)
            subscriptions[line] = state.subscription
            things[line] = state.oneTime
            if let line = Self.line(line, state, Self.bindings(life.bindings[line] ?? [])) { lines.append(line) }
        }
        // What was before an erasure does not count: the store leaves it out.
        let erased = life.erased ?? .min
        self.facts = AccountFacts(
            account: try Self.account(life.account), lines: lines,
            acts: life.acts.filter { $0.at > erased }.map(Self.act),
            trial: life.trial.flatMap { $0.starts > erased ? $0 : nil }.map {
                StartedTrial(
                    tier: $0.tier, startedAt: Timestamp(millisecondsSince1970: $0.starts),
                    endsAt: Timestamp(millisecondsSince1970: $0.ends))
            }, erasedAt: life.erased.map { Timestamp(millisecondsSince1970: $0) })
    }

    private static func merge(_ message: LifeMessage, into facts: inout PurchaseFacts) throws {
        let signedAt = Timestamp(millisecondsSince1970: message.signed)
        if let transaction = message.transaction {
            facts.merge(
                TransactionFact(
                    try TransactionPayload.decode(transaction.json), digest: digest(transaction.json), asOf: signedAt))
        }
        if let renewal = message.renewal {
            facts.merge(
                RenewalFact(
                    try RenewalInfoPayload.decode(renewal.json), digest: digest(renewal.json), asOf: signedAt,
                    reportedStatus: message.status))
        }
        if let status = message.status { facts.merge(ReportedStatus(status: status, signedAt: signedAt)) }
    }

    private static func line(
        _ line: String, _ state: PurchaseState, _ bindings: [PurchaseBinding]
    ) -> AccountLine? {
        let key = PurchaseKey(
            environment: ModelNotification.environment, bundleID: ModelNotification.bundleId,
            originalTransactionID: line)
        let ownership = PurchaseOwnership(bindings)
        if let subscription = state.subscription {
            return AccountLine(
                key: key, content: .subscription(subscription.phases.map { LinePhase($0) }), ownership: ownership,
                stretchEnds: subscription.stretchEnds)
        }
        return state.oneTime.map { thing in
            AccountLine(
                key: key,
                content: .oneTime(
                    AccountLine.BoughtOnce(
                        kind: thing.kind, productID: thing.productID, purchasedAt: thing.purchasedAt,
                        expiresAt: thing.expiresAt, revokedAt: thing.revokedAt, gaps: thing.gaps,
                        signedAccount: thing.appAccountToken, earlierAccounts: thing.earlierAccounts)),
                ownership: ownership)
        }
    }

    private static func bindings(_ bindings: [LifeBinding]) -> [PurchaseBinding] {
        bindings.compactMap { binding in
            guard let kind = PurchaseBinding.Kind(rawValue: binding.kind.rawValue),
                let account = UniqueIdentifier(binding.account)
            else { return nil }
            return PurchaseBinding(
                id: binding.id, kind: kind, account: account, at: Timestamp(millisecondsSince1970: binding.at))
        }
    }

    private static func act(_ act: LifeAct) -> StaffAct {
        let kind: StaffAct.Kind =
            switch act.kind {
            case .grant(let tier, let days): .grant(tier: tier, days: days)
            case .extend(let days): .extend(days: days)
            case .revoke: .revoke
            case .unrevoke: .unrevoke
            case .changeTier(let tier): .changeTier(to: tier)
            }
        return StaffAct(id: act.id, at: Timestamp(millisecondsSince1970: act.at), kind: kind)
    }

    private static func account(_ token: String) throws -> UniqueIdentifier {
        guard let account = UniqueIdentifier(token) else { throw NoAccount(token: token) }
        return account
    }

    private struct NoAccount: Error { var token: String }

    private static func catalog(_ catalog: LifeCatalog) -> Catalog {
        Catalog(
            tiers: catalog.tiers.map { Catalog.Tier(id: $0) },
            products: catalog.products.sorted { $0.key < $1.key }.map { product, tier in
                let days = catalog.termDays[product]
                return Catalog.Product(
                    id: product, productID: product, bundleID: ModelNotification.bundleId, tier: tier,
                    period: days != nil ? .term : product == "forever" ? .lifetime : .month, lasts: days.map { Int($0) }
                )
            })
    }

    private static func digest(_ json: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: json)) }
}
