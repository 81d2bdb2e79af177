import Testing

@testable import Simulation
@testable import Stories

@Suite("The catalogue of stories")
struct StoryTests {
    private static let performances = Story.catalogue.map { $0.performed() }

    /// Type and subtype of everything that Apple is known to send, and a type that it is not.
    private static let rows: [(String, [String?])] = [
        ("SUBSCRIBED", ["INITIAL_BUY", "RESUBSCRIBE"]),
        ("DID_RENEW", [nil, "BILLING_RECOVERY"]),
        ("DID_CHANGE_RENEWAL_PREF", ["UPGRADE", "DOWNGRADE", nil]),
        ("DID_CHANGE_RENEWAL_STATUS", ["AUTO_RENEW_ENABLED", "AUTO_RENEW_DISABLED", nil]),
        ("OFFER_REDEEMED", [nil, "UPGRADE", "DOWNGRADE", "INITIAL_BUY", "RESUBSCRIBE"]),
        ("DID_FAIL_TO_RENEW", ["GRACE_PERIOD", nil]),
        ("GRACE_PERIOD_EXPIRED", [nil]),
        ("EXPIRED", ["VOLUNTARY", "BILLING_RETRY", "PRICE_INCREASE", "PRODUCT_NOT_FOR_SALE", nil]),
        ("PRICE_INCREASE", ["PENDING", "ACCEPTED"]),
        ("PRICE_CHANGE", [nil]), ("METADATA_UPDATE", [nil]), ("MIGRATION", [nil]), ("MIGRATE", [nil]),
        ("REFUND", [nil]), ("REFUND_DECLINED", [nil]), ("REFUND_REVERSED", [nil]),
        ("REVOKE", [nil]),
        ("CONSUMPTION_REQUEST", [nil]),
        ("RENEWAL_EXTENDED", [nil]),
        ("RENEWAL_EXTENSION", ["SUMMARY", "FAILURE"]),
        ("ONE_TIME_CHARGE", [nil]),
        ("EXTERNAL_PURCHASE_TOKEN", ["CREATED", "ACTIVE_TOKEN_REMINDER", "UNREPORTED"]),
        ("RESCIND_CONSENT", [nil]),
        ("TEST", [nil]),
        ("SUBSCRIPTION_PAUSED", ["BY_CUSTOMER"]),
    ]

    @Test("tells every type and subtype that Apple sends")
    func coverage() {
        let told = Set(Self.performances.flatMap(\.notifications).map { "\($0.type)/\($0.subtype ?? "-")" })
        for (type, subtypes) in Self.rows {
            for subtype in subtypes {
                #expect(told.contains("\(type)/\(subtype ?? "-")"))
            }
        }
    }

    @Test("has many stories, each with its own name and one sentence to teach")
    func names() {
        let names = Story.catalogue.map(\.name)
        #expect(names.count >= 35)
        #expect(Set(names).count == names.count)
        for story in Story.catalogue {
            #expect(story.name.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "-" }, "\(story.name)")
            #expect(story.teaches.hasSuffix("."), "\(story.name)")
            #expect(Story.named(story.name)?.teaches == story.teaches)
        }
    }

    @Test("tells events in the order of their signed dates, within seconds of their happening")
    func order() {
        for performance in Self.performances {
            let dates = performance.notifications.map(\.signedDate)
            #expect(!dates.isEmpty && dates == dates.sorted(), "\(performance.story.name)")
            #expect(performance.longestDelay < .seconds(10), "\(performance.story.name)")
        }
    }

    @Test("claims something in order, up to the end of each story, about every line in it")
    func expectations() {
        for performance in Self.performances {
            let name = performance.story.name
            let instants = performance.expectations.map(\.instant)
            #expect(!instants.isEmpty && instants == instants.sorted(), "\(name)")
            #expect((instants.last ?? 0) > (performance.notifications.last?.signedDate ?? .max), "\(name)")
            for expectation in performance.expectations {
                #expect(performance.apps.contains(expectation.app), "\(name)")
            }
            let claimed = Set(performance.expectations.compactMap { Line($0) })
            let lines = Set(performance.notifications.compactMap { Line($0) })
            #expect(claimed == lines, "\(name)")
        }
    }

    @Test("never claims anything within a minute of a notification, so that seconds of delay decide nothing")
    func distance() {
        for performance in Self.performances {
            for expectation in performance.expectations {
                let nearest = performance.notifications.map { abs($0.signedDate - expectation.instant) }.min() ?? .max
                #expect(nearest > .seconds(40), "\(performance.story.name) at \(expectation.instant)")
            }
        }
    }

    @Test("has Apple's reportedStatus agree with a claim that nothing lies between, not even the end of a period")
    func reportedStatuses() {
        var compared = 0
        for performance in Self.performances {
            for expectation in performance.expectations {
                guard let claim = expectation.subscription else { continue }
                let heard = performance.notifications.last {
                    $0.signedDate < expectation.instant && Line($0) == Line(expectation)
                }
                let boundaries = performance.notifications.filter { Line($0) == Line(expectation) }.flatMap { heard in
                    let expiry = heard.transaction?.expiresDate ?? 0
                    var grace: Milliseconds = 0
                    if case .date(let date) = heard.renewal?.gracePeriodExpiresDate { grace = date }
                    return [expiry, grace, expiry + .days(16), expiry + .days(60)]
                }
                guard let heard, let reportedStatus = heard.appleStatus,
                    !boundaries.contains(where: { heard.signedDate <= $0 && $0 <= expectation.instant })
                else { continue }
                compared += 1
                #expect(
                    claim.status.appleStatus == reportedStatus, "\(performance.story.name) at \(expectation.instant)")
            }
        }
        #expect(compared > 80)
    }

    @Test("gives Apple's status to auto-renewable subscriptions and to nothing else")
    func status() {
        for notification in Self.performances.flatMap(\.notifications) {
            let renewable = notification.transaction?.type == "Auto-Renewable Subscription"
            #expect((notification.appleStatus != nil) == renewable)
            #expect((notification.renewal != nil) == renewable)
            #expect((notification.transaction?.webOrderLineItemId != nil) == renewable)
        }
    }

    @Test("shares no notification and no transaction between stories, nor between tellings of one")
    func identifiers() {
        var uuids: Set<String> = []
        var owners: [String: String] = [:]
        let tellings = Self.performances + Story.catalogue.map { $0.performed(variation: 1) }
        for (number, performance) in tellings.enumerated() {
            for notification in performance.notifications {
                #expect(uuids.insert(notification.uuid).inserted)
                guard let transaction = notification.transaction else { continue }
                let key = "\(transaction.environment) \(transaction.bundleId) \(transaction.transactionId)"
                let owner = "\(number) \(transaction.originalTransactionId)"
                #expect(owners.updateValue(owner, forKey: key) ?? owner == owner)
            }
        }
    }

    @Test("tells the same story the same way")
    func determinism() {
        for (story, performance) in zip(Story.catalogue, Self.performances) {
            #expect(story.performed().notifications == performance.notifications)
            #expect(story.performed().expectations == performance.expectations)
        }
    }
}

/// A subscription named across apps and environments.
private struct Line: Hashable {
    let key: String

    init?(_ notification: UnsignedNotification) {
        guard let transaction = notification.transaction, notification.renewal != nil else { return nil }
        key = "\(transaction.environment) \(transaction.bundleId) \(transaction.originalTransactionId)"
    }

    init?(_ expectation: StoryExpectation) {
        guard let subscription = expectation.subscription else { return nil }
        key =
            "\(expectation.app.environment.rawValue) \(expectation.app.bundleId) \(subscription.originalTransactionId)"
    }
}
