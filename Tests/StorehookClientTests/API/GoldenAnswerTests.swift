import Foundation
import Testing

@testable import StorehookClient

/// The server's own tests keep what it answers. The client reads the same files: the two cannot part.
@Suite("The server's answers, as its tests keep them")
struct GoldenAnswerTests {
    /// Reads all answers to a call, and compares them member by member.
    @discardableResult
    private func read<Value: Decodable>(_ type: Value.Type, _ call: String, least: Int) throws -> [Value] {
        let answers = try GoldenAnswers.all().filter { $0.call == call && $0.status < 300 }
        #expect(answers.count >= least, "\(call): this test reads the file wrongly")
        return try answers.map { answer in
            let data = Data(answer.body.utf8)
            let value = try ServerDates.decoder.decode(type, from: data)
            let differences = GoldenAnswers.differences(value, try JSONSerialization.jsonObject(with: data))
            #expect(differences.isEmpty, "\(answer)")
            return value
        }
    }

    @Test("are compared member by member: one that is read wrongly is found")
    func compares() throws {
        let answer = try #require(try GoldenAnswers.all().first { $0.call == "GET /v1/subscriptions/status" })
        let members = try #require(
            try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any])
        let value = try ServerDates.decoder.decode(SubscriptionStatus.self, from: Data(answer.body.utf8))
        #expect(GoldenAnswers.differences(value, members).isEmpty)
        for (name, wrong) in [
            ("tier", "other"), ("status", "trial"), ("isActive", false), ("version", 99), ("purchaseDate", NSNull()),
            ("expiresAt", "2001-01-01T00:00:00Z"), ("subscriptions", [] as [Any]), ("subscription", NSNull()),
        ] as [(String, Any)] {
            let found = GoldenAnswers.differences(value, members.merging([name: wrong]) { $1 })
            #expect(found.count == 1 && found[0].hasPrefix(".\(name)"), "\(name): \(found)")
            // A member that is not read, as under another name, is nil.
            #expect(!GoldenAnswers.differences(value, members.filter { $0.key != name }).isEmpty, "\(name)")
        }
    }

    @Test("have the status as the client reads it")
    func status() throws {
        let all = try read(SubscriptionStatus.self, "GET /v1/subscriptions/status", least: 15)
        #expect(Set(all.map(\.status)).count >= 4 && Set(all.map(\.hasActiveSubscription)).count == 2)
        #expect(all.contains { $0.cancelledAt != nil } && all.contains { $0.trialEndsAt != nil })
        #expect(all.contains { !$0.subscriptions.isEmpty } && all.contains { $0.subscription == nil })
        try read(SubscriptionStatus.self, "POST /v1/subscriptions/refresh", least: 1)
    }

    @Test("have the account and what it may use as the client reads them")
    func account() throws {
        let accounts = try read(Account.self, "GET /v1/account", least: 5)
        #expect(Set(accounts.map(\.appAccountToken)).count == accounts.count)
        try read(Entitlements.self, "GET /v1/entitlements", least: 5)
        try read(Consent.self, "PUT /v1/consents/consumption", least: 1)
    }

    @Test("have what becomes of purchases as the client reads it")
    func verify() throws {
        let verified = try read(Verification.self, "POST /v1/subscriptions/verify", least: 2)
        #expect(verified.contains { $0.success && $0.subscription != nil })
        let restored = try read(Restoration.self, "POST /v1/subscriptions/restore", least: 2)
        #expect(restored.contains { !$0.transactions.isEmpty })
    }

    @Test("have the catalog as the client reads it")
    func products() throws {
        let catalogs = try read(Catalog.self, "GET /v1/products", least: 5)
        let products = catalogs.flatMap(\.products)
        #expect(products.contains { $0.introductory?.eligible == true })
        #expect(products.contains { $0.introductory?.eligible == false })
        #expect(catalogs.contains { $0.trial.trial?.days == 7 && $0.trial.trial?.products.isEmpty == false })
        #expect(catalogs.allSatisfy { FeatureRules($0).tiers.count == $0.tiers.count })
    }

    @Test("have the app's own trial as the client reads it")
    func trial() throws {
        let eligible = try read(TrialEligibility.self, "GET /v1/subscriptions/trial/eligibility", least: 5)
        #expect(Set(eligible.map(\.eligible)).count == 2 && Set(eligible.map(\.reason)).count > 1)
        try read(TrialStatus.self, "GET /v1/subscriptions/trial/status", least: 5)
        try read(TrialStatus.self, "POST /v1/subscriptions/trial/start", least: 2)
    }

    @Test("have use as the client reads it")
    func usage() throws {
        try read(FeatureList.self, "GET /v1/features", least: 5)
        try read(FeatureAnswer.self, "GET /v1/features/ai", least: 5)
        try read(CurrentUsage.self, "GET /v1/usage/current", least: 5)
        let counted = try read(CountedUsage.self, "POST /v1/usage/words", least: 3)
        #expect(Set(counted.map(\.duplicate)).count == 2)
    }

    @Test("may lack what does not decide: each member is nil, empty or none then, and the answer is read")
    func missing() throws {
        var (read, refused) = (0, Set<String>())
        func lack<Value: Decodable>(_ type: Value.Type, _ call: String) throws {
            for answer in try GoldenAnswers.all() where answer.call == call && answer.status < 300 {
                let json = try JSONSerialization.jsonObject(with: Data(answer.body.utf8))
                let members = try #require(json as? [String: Any])
                for name in members.keys {
                    let data = try JSONSerialization.data(withJSONObject: members.filter { $0.key != name })
                    if (try? ServerDates.decoder.decode(type, from: data)) == nil {
                        refused.insert("\(type).\(name)")
                    } else {
                        read += 1
                    }
                }
            }
        }
        try lack(Account.self, "GET /v1/account")
        try lack(SubscriptionStatus.self, "GET /v1/subscriptions/status")
        try lack(Verification.self, "POST /v1/subscriptions/verify")
        try lack(Restoration.self, "POST /v1/subscriptions/restore")
        try lack(Catalog.self, "GET /v1/products")
        try lack(Entitlements.self, "GET /v1/entitlements")
        try lack(FeatureList.self, "GET /v1/features")
        try lack(CurrentUsage.self, "GET /v1/usage/current")
        try lack(TrialStatus.self, "GET /v1/subscriptions/trial/status")
        #expect(read > 400)
        // What decides about access, and whose it is: an answer without it keeps the status that was last known.
        #expect(
            refused == [
                "Account.id", "Account.appAccountToken", "Account.status", "Account.hasAccess", "Account.tier",
                "SubscriptionStatus.status", "SubscriptionStatus.hasActiveSubscription", "SubscriptionStatus.tier",
                "Verification.account", "Restoration.account", "Restoration.status",
                "Restoration.hasActiveSubscription", "Restoration.tier", "Entitlements.tier", "FeatureList.tier",
                "CurrentUsage.tier", "TrialStatus.status",
            ])
        let bare = Data(#"{"status":"active","hasActiveSubscription":true,"tier":"pro"}"#.utf8)
        let status = try ServerDates.decoder.decode(SubscriptionStatus.self, from: bare)
        #expect(status.subscriptions.isEmpty && status.purchaseType == .none && status.expiresAt == nil)
        #expect(status.source == .none && status.displayStatus.isEmpty && status.version == 0 && !status.willRenew)
        let catalog = try ServerDates.decoder.decode(
            Catalog.self, from: Data(#"{"products":[{"productId":"p","tier":"pro"}]}"#.utf8))
        #expect(catalog.productIDs == ["p"] && catalog.tiers.isEmpty && !catalog.trial.eligible)
    }

    @Test("have problems as the client sorts them")
    func problems() throws {
        let answers = try GoldenAnswers.all().filter {
            $0.status >= 400 && $0.call.contains("/v1/") && $0.call != "GET /v1/guard"
        }
        #expect(answers.count >= 10, "this test reads the file wrongly")
        var kinds: [String: Set<ClientError>] = [:]
        for answer in answers {
            let data = Data(answer.body.utf8)
            let members = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any], "\(answer)")
            let problem = Problem(status: answer.status, data, retryAfter: nil)
            #expect(problem.code == members["code"] as? String && problem.title == members["title"] as? String)
            #expect(problem.detail == members["detail"] as? String, "\(answer)")
            #expect(problem.upgradePrompt == members["upgradePrompt"] as? String, "\(answer)")
            kinds["\(answer.call) \(answer.status)", default: []].insert(ClientError(describing: problem))
        }
        #expect(kinds["POST /v1/subscriptions/verify 403"] == [.otherAccount])
        #expect(kinds["POST /v1/subscriptions/verify 409"] == [.otherAccount])
        #expect(kinds["POST /v1/subscriptions/verify 400"]?.contains(.verificationFailed) == true)
        #expect(kinds["GET /v1/account 401"] == [.signIn])
        #expect(kinds["GET /v1/features/nothing 404"] == [.unknown])
    }
}
