import Foundation
import StorehookClient

extension ClientLife {
    /// Judges what the app allows: by the server, by what the App Store handed over, and by what the app has heard.
    func judge(after act: Act, isOnline: Bool) async throws {
        let server = try await site.standing(of: name)
        let (heard, access) = (network.heard, manager.state.access)
        let unjudged = unjudged(by: heard)
        story.append(
            "  \(site.now) \(act) online \(isOnline): \(access.allowed) by \(access.basis), server \(server.allows), "
                + "held \(store.held.count), unjudged \(unjudged.count)")
        if access.allowed { figures.allowed += 1 }
        if heard.isTakenBack { figures.takenBack += 1 }

        // While the server answers, there is no grace.
        let grace = isOnline ? 0 : self.grace
        let isKept = heard.allows == true && heard.until.map { $0 + grace > time.earliest } ?? true
        if access.allowed {
            // What was bought since then was not taken back.
            if heard.isTakenBack, !unjudged.contains(where: { $0.purchasedAt > heard.heardAt }) {
                wrong("it allows after it heard that the account was taken back")
            } else if server.allows {
                if isOnline, access.basis == .server, access.tier != server.tier {
                    wrong("it states another tier than \(server.tier), which the server has just stated")
                }
            } else if !unjudged.isEmpty {
                figures.byStore += 1
            } else if isKept {
                figures.byCache += 1
            } else {
                wrong("it allows: the server does not, the App Store holds nothing, and what was kept has ended")
            }
        } else if isOnline, server.allows {
            wrong("it locks out who has paid and is online")
        } else if heard.allows == true, heard.until.map({ $0 > time.latest }) ?? true,
            // What the App Store has taken back since is not what was last known.
            !heard.purchases.values.contains(where: { $0.transactionID.map(store.takenBack.contains) ?? false })
        {
            wrong("it does not allow, and what was last known has not ended")
        } else if server.allows {
            figures.behind += 1
        }
    }

    /// What the App Store holds by what it handed over last, and nothing heard speaks against it.
    private func unjudged(by heard: LivesHearing) -> [StoreTransaction] {
        store.held.filter { transaction in
            if transaction.revokedAt != nil || transaction.isUpgraded { return false }
            if let end = transaction.expiresAt, end <= time.earliest { return false }
            guard let purchase = heard.purchases[transaction.originalID], purchase.hasJudged(transaction.id) else {
                return true
            }
            return purchase.hasAccess
        }
    }
}
