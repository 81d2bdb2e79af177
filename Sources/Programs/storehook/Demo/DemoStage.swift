import Accounts
import AppStorePayloads
import Base
import EventStore
import Foundation
import PurchaseStore
import Simulation
import Subscriptions

/// Where a customer's life is played, and everything that it is seen by.
struct DemoStage {
    let shop: StandInCalls
    let api: DemoAPI
    let reader: LedgerReader
    let events: EventStore
    /// The customer's name, in the shop and for the account API.
    let account: String
    let environment: Base.Environment
    /// How many seconds a week takes at first.
    let week: Int64
    /// How long each part of a step may take to come.
    let patience: Duration

    private static let product = "com.example.storehook.basic.weekly"
    /// How long a week takes once nothing more has to come by itself: the viewer has time.
    private static let slowWeek: Int64 = 60

    /// Plays, and prints each step as soon as all of it has come.
    /// - Throws: `CommandFailure` saying what did not come, or that the shop knows the customer already; `CancellationError`. The
    ///   customer then renews no more.
    func play(_ printer: DemoLifePrinter) async throws {
        let before = try await api.account()
        guard let token = before.body["appAccountToken"]?.asText, let token = UniqueIdentifier(token) else {
            throw CommandFailure("GET \(api.path) of \(api.url) has no appAccountToken")
        }
        guard try await posts().isEmpty else {
            throw CommandFailure(
                "the shop at \(shop.url) has sold something to \(account) already: name another by --account",
                status: .usage)
        }
        let opens = try await api.sells(Self.product)
        printer.begin(self, token, opens ? nil : Self.product)
        try await setSpeed(ofWeek: week)
        try await shop.post("loss", ["customer": .string(account), "rate": 0, "environment": place])
        var watch = DemoWatch(stage: self, token: token, opens: opens, cursor: try await events.bounds().newest)
        do {
            try await play(&watch, printer)
        } catch {
            if let original = watch.original {
                _ = try? await shop.post("cancellations", ["originalTransactionId": .string(original)])
            }
            _ = try? await setSpeed("shop")
            throw error
        }
        try await setSpeed("shop")
        printer.end(watch.original ?? "", self)
    }

    private func play(_ watch: inout DemoWatch, _ printer: DemoLifePrinter) async throws {
        // Apple's dates are whole seconds: bought at the beginning of one, the week loses none of it.
        try await Task.sleep(for: .milliseconds(1010 - WallClock.now().millisecondsSince1970 % 1000))
        let bought = try await shop.post(
            "purchases",
            [
                "productId": .string(Self.product), "customer": .string(account), "offer": "trial",
                "appAccountToken": .string(watch.token.description), "environment": place,
            ])
        guard let original = bought["originalTransactionId"]?.asText else {
            throw shop.trouble("has no original transaction")
        }
        watch.original = original
        let subscription: JSONValue = ["originalTransactionId": .string(original)]
        async let prepared: Void = prepareFailure(of: subscription)
        let trial = try await watch.step(
            "trial", "The customer buys a weekly plan, and has its first week for nothing.", .subscribed, to: .trial)
        printer.tell(trial)
        try await prepared
        let conversion = try await watch.step(
            "conversion", "The free week is over, and the customer pays for the next.", .didRenew, to: .active,
            at: trial.after?.periodEndsAt ?? trial.after?.expiresAt)
        printer.tell(conversion)

        printer.tell(
            try await watch.step(
                "failed payment", "The card is refused when the paid week is over.", .didFailToRenew, to: .gracePeriod))
        printer.tell(
            try await watch.step(
                "grace", "Apple goes on trying, and meanwhile the customer keeps what was paid for.", nil,
                to: .gracePeriod))

        try await shop.post("billing", subscription.adding("fails", false))
        let recovery = try await watch.step(
            "recovery", "The card works again.", .didRenew, to: .active)
        printer.tell(recovery)

        guard let transaction = recovery.after?.transactionID else {
            throw CommandFailure("the purchase \(original) was recovered, and its transaction is not known")
        }
        try await shop.post("refunds", ["transactionId": .string(transaction)])
        printer.tell(
            try await watch.step("refund", "Apple gives the money of this week back.", .refund, to: .revoked))
    }

    /// Lets the charge after the first one fail, however long others take to see the first; what follows takes its time.
    private func prepareFailure(of subscription: JSONValue) async throws {
        _ = try await until("the shop at \(shop.url) has charged for no second week") {
            try await posts().first { $0.type == NotificationType.didRenew.rawValue }
        }
        try await shop.post("billing", subscription.adding("fails", true))
        try await setSpeed(ofWeek: Self.slowWeek)
    }

    /// What Apple has posted about the customer, or is about to.
    func posts() async throws -> [DemoPost] {
        return try await shop.get("posts?customer=\(account.percentEncoded())").asList.compactMap(DemoPost.init)
    }

    private var place: JSONValue { .string(environment.rawValue) }

    /// The customer's own clock: a week takes so many seconds from now on.
    private func setSpeed(ofWeek seconds: Int64) async throws { try await setSpeed(.integer(604_800 / seconds)) }

    private func setSpeed(_ speed: JSONValue) async throws {
        try await shop.post("clock", ["customer": .string(account), "speed": speed, "environment": place])
    }

    /// Asks until there is an answer.
    /// - Throws: `CommandFailure` with what does not come, after ``patience``.
    func until<T>(_ what: @autoclosure () -> String, _ ask: () async throws -> T?) async throws -> T {
        let end = ContinuousClock.now + patience
        while true {
            if let answer = try await ask() { return answer }
            guard ContinuousClock.now < end else {
                throw CommandFailure("\(what()) within \(patience / .seconds(1)) seconds")
            }
            try await Task.sleep(for: .milliseconds(60))
        }
    }
}
