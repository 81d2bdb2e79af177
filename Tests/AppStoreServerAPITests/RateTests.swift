import AppStorePayloads
import AppStoreServerAPI
import Base
import Testing

@Suite("The budget of requests")
struct RateTests {
    private static let start = Timestamp(millisecondsSince1970: 1_769_904_000_000)
    private static func key(
        _ endpoint: AppleEndpoint, _ environment: Environment = .production, app: String = "com.example.app"
    ) -> RateSchedule.Key {
        RateSchedule.Key(bundleId: app, environment: environment, endpoint: endpoint)
    }

    @Test("is Apple's table, and a tenth of it in Sandbox")
    func rates() {
        let rates: [AppleEndpoint: Double] = [
            .transactionHistory: 50, .transactionInfo: 50, .subscriptionStatuses: 50, .appTransactionInfo: 50,
            .finishTransaction: 50, .consumptionInformation: 50, .notificationHistory: 50, .testNotification: 1,
            .testNotificationStatus: 1, .extendRenewalDate: 20, .massExtension: 1, .massExtensionStatus: 1,
            .appAccountToken: 20, .orderLookup: 10, .refundHistory: 10,
            // Apple names none for it.
            .verifyReceipt: 10,
        ]
        #expect(rates.count == AppleEndpoint.allCases.count)
        for (endpoint, rate) in rates {
            #expect(endpoint.ratePerSecond(in: .production) == rate)
            #expect(endpoint.ratePerSecond(in: .sandbox) == rate / 10)
        }
    }

    @Test("is never exceeded over an hour, and leaves the other half to others", arguments: AppleEndpoint.allCases)
    func anHour(_ endpoint: AppleEndpoint) {
        for environment in [Environment.production, .sandbox] {
            for priority in [RateSchedule.Priority.background, .interactive] {
                var schedule = RateSchedule()
                let end = Self.start.adding(seconds: 3600)
                var now = Self.start
                var sent = 0
                while now < end {
                    sent += 1
                    now = max(now, schedule.takeTurn(Self.key(endpoint, environment), priority, at: now))
                }
                let allowed = endpoint.ratePerSecond(in: environment) * 3600
                // Half of it, and once what a pause leaves: ten requests, or those of a second.
                let pause = max(10, endpoint.ratePerSecond(in: environment))
                #expect(Double(sent) <= allowed / 2 + pause + 1, "\(endpoint) \(environment) \(priority)")
                #expect(Double(sent) >= allowed / 2 * 0.95, "\(endpoint) \(environment) \(priority)")
            }
        }
    }

    @Test("lets people through at once while work in the background waits for its turn")
    func priorities() {
        var schedule = RateSchedule()
        let key = Self.key(.refundHistory)
        #expect(schedule.takeTurn(key, .background, at: Self.start) == Self.start)
        #expect(schedule.takeTurn(key, .background, at: Self.start) == Self.start.adding(milliseconds: 200))
        #expect(schedule.takeTurn(key, .interactive, at: Self.start) == Self.start)
    }

    @Test("is divided among the processes that ask")
    func divided() {
        let budget = RateBudget()
        budget.divide(among: 4)
        #expect(budget.share == 0.125)
        budget.divide(among: 0)
        #expect(budget.share == 0.5)
        var schedule = RateSchedule()
        schedule.share = 0.125
        let key = Self.key(.notificationHistory)
        #expect(schedule.takeTurn(key, .background, at: Self.start) == Self.start)
        #expect(schedule.takeTurn(key, .background, at: Self.start) == Self.start.adding(milliseconds: 160))
        schedule.share = 0
        #expect(schedule.share > 0)
    }

    @Test("is each app's, environment's and call's own")
    func apart() {
        var schedule = RateSchedule()
        for _ in 0..<100 { _ = schedule.takeTurn(Self.key(.massExtension), .interactive, at: Self.start) }
        for other in [
            Self.key(.massExtension, .sandbox), Self.key(.massExtensionStatus),
            Self.key(.massExtension, app: "com.example.other"),
        ] {
            #expect(schedule.takeTurn(other, .interactive, at: Self.start) == Self.start)
        }
    }

    @Test("holds everybody back until the instant that Apple names, and lets them go one after the other")
    func blocked() {
        var schedule = RateSchedule(share: 1)
        let key = Self.key(.transactionInfo)
        let instant = Self.start.adding(milliseconds: 1500)
        schedule.block(key, until: instant)
        #expect(schedule.isBlocked(key, at: instant.adding(milliseconds: -1)) == instant)
        #expect(schedule.isBlocked(key, at: instant) == nil)
        let turns = (0..<5).map { _ in schedule.takeTurn(key, .interactive, at: Self.start) }
        #expect(turns == (0..<5).map { instant.adding(milliseconds: $0 * 20) })
        #expect(schedule.takeTurn(key, .background, at: Self.start) >= instant)
    }
}
