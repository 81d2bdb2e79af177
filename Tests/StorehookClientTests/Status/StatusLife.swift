import Foundation

@testable import StorehookClient

/// A random life of one device, judged after each act by rules of its own.
@MainActor
final class StatusLife {
    private let phone = StatusPhone()
    private var chance: LivesChance
    private var account = "alice"
    /// What the device may know of the time.
    private var seen = MovedClock.start
    private var isAnchored = false
    private var offset: TimeInterval = 0
    private var answers = 0
    private var story: [String] = []

    private(set) var wrongs: [String] = []
    /// How often it allowed, by what; and how often it was right to lock out.
    private(set) var figures: [String: Int] = [:]

    init(_ seed: UInt64) { chance = LivesChance(seed) }

    func live(_ acts: Int) async {
        await launch()
        for _ in 0..<acts {
            answers = phone.server.with { $0.answers }
            let (name, asks) = await act()
            story.append(name)
            judge(asks)
        }
        phone.manager.signOut()
    }

    private func launch() async {
        isAnchored = false
        await phone.launch(as: account)
    }

    private func act() async -> (String, asks: Bool) {
        switch chance.below(20) {
        case 0, 1:
            await launch()
            return ("launch", true)
        case 2, 3, 4:
            await phone.manager.refreshSubscriptionStatus()
            return ("refresh", true)
        case 5, 6:
            phone.store.with { $0.outcome = nil }
            phone.store.with { $0.period = [86_400, 7 * 86_400, 30 * 86_400][self.chance.below(3)] }
            _ = await phone.manager.purchase(chance.below(8) == 0 ? "lifetime" : "pro.monthly")
            return ("buy", false)
        case 7:
            _ = await phone.manager.restorePurchases()
            return ("restore", false)
        case 8, 9, 10:
            let weather = FakeStatusServer.Weather.allCases[chance.below(4)]
            phone.server.with { $0.weather = weather }
            return ("\(weather)", false)
        case 11:
            offset = [-40 * 86_400, -3600, 0, 0, 5 * 86_400][chance.below(5)]
            phone.clock.set(offset)
            return ("clock \(offset)", false)
        case 12:
            let isFailing = chance.below(2) == 0
            phone.store.with { $0.failsToFinish = isFailing }
            return ("finish fails \(isFailing)", false)
        case 13: return (takeBack(), false)
        case 14: return (renew(), false)
        case 15:
            // The process ends, and time passes without it.
            phone.manager.signOutOfMemory()
            phone.pass(Double(chance.below(10 * 86_400)))
            await launch()
            return ("off, launch", true)
        case 16:
            phone.manager.signOut()
            account = account == "alice" ? "bob" : "alice"
            phone.server.with { $0.caller = self.account }
            phone.server.with { ($0.heard, $0.refused, $0.isTokenHeard) = (nil, [], false) }
            await phone.manager.signIn(accountID: account)
            await phone.manager.start()
            return ("other account", true)
        default:
            let seconds = Double(chance.below(chance.below(3) == 0 ? 12 * 86_400 : 7200))
            phone.pass(seconds)
            seen += seconds
            return ("pass \(seconds)", false)
        }
    }

    private func takeBack() -> String {
        let (kind, account) = (chance.below(4), account)
        phone.server.with { world in
            switch kind {
            case 0: world.blocked.formSymmetricDifference([account])
            case 1: world.grants[account] = world.now + 5 * 86_400
            default: if let newest = world.transactions.keys.max() { world.refunded.insert(newest) }
            }
        }
        return ["block or not", "grant", "refund", "refund"][kind]
    }

    private func renew() -> String {
        phone.store.with { shelf in
            guard case .verified(let last)? = shelf.held.last, last.expiresAt != nil else { return }
            shelf.sell(last.productID, to: last.appAccountToken, of: last.originalID)
        }
        return "renew"
    }

    private func judge(_ asks: Bool) {
        let world = phone.server.with { $0 }
        if world.answers > answers {
            (seen, isAnchored) = (world.now, true)
        } else if !isAnchored {
            seen = max(seen, phone.clock.wall)
        }
        let (server, heard) = (world.status(of: account), world.heard)
        let token = StatusPhone.token(of: account)
        // The device may hold what the store has replaced since it was read.
        let held = phone.store.with { $0.sold }.contains { transaction in
            guard !world.refused.contains(transaction.originalID), heard?.takesBack(transaction) != true,
                transaction.appAccountToken == nil || !world.isTokenHeard || transaction.appAccountToken == token
            else { return false }
            let purchase = heard?.purchases.first { $0.originalID == transaction.originalID }
            if purchase?.status == "revoked", purchase?.transactionID == transaction.id { return false }
            return transaction.expiresAt.map { $0 > seen } ?? true
        }
        let kept = heard?.hasAccess == true && heard?.accessUntil.map { $0 + StatusPhone.grace > seen } ?? true
        let access = phone.access
        if access.allowed {
            figures[access.basis.rawValue, default: 0] += 1
            if heard?.isTakenBack == true, !held {
                wrong("allows what was taken back")
            } else if !(server.hasAccess || held || kept) {
                wrong("allows without a ground")
            }
        } else if asks, world.weather == .fine, server.hasAccess {
            wrong("locks out who has paid and is online")
        } else {
            figures["not", default: 0] += 1
            if heard?.isTakenBack == true { figures["taken back", default: 0] += 1 }
        }
        let finished = phone.store.with { $0.finished }
        if finished.contains(where: { world.transactions[$0] == nil }) { wrong("finishes what was not accepted") }
    }

    private func wrong(_ what: String) {
        wrongs.append("\(what): \(phone.access) after \(story.suffix(12).joined(separator: ", "))")
    }
}

/// Chance that is the same for the same seed (SplitMix64).
struct LivesChance: Sendable {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func below(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((bits ^ (bits >> 31)) % UInt64(bound))
    }
}
