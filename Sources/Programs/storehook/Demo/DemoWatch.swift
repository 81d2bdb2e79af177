import Accounts
import AppStorePayloads
import Base
import EventStore
import Foundation
import PurchaseStore
import Subscriptions

/// What was seen of a customer's life so far, and how the next step of it is waited for.
struct DemoWatch {
    let stage: DemoStage
    /// The customer's appAccountToken.
    let token: UniqueIdentifier
    /// Whether the catalog knows what is bought.
    let opens: Bool
    /// Events up to here were told.
    var cursor: Int64
    /// The purchase, once there is one.
    var original: String?
    /// For so long nothing has come before a step counts as over, and so long it may take at most.
    private static let (quiet, longest) = (Duration.milliseconds(200), Duration.seconds(5))
    private var told: Set<String> = []
    private var last: SubscriptionView?

    init(stage: DemoStage, token: UniqueIdentifier, opens: Bool, cursor: Int64) {
        self.stage = stage
        self.token = token
        self.opens = opens
        self.cursor = cursor
    }

    /// The first post of a type that was not printed, once Apple has tried to post it.
    func post(_ type: NotificationType) async throws -> DemoPost {
        try await stage.until("the shop at \(stage.shop.url) has posted no \(type.rawValue)") {
            try await news().first { $0.type == type.rawValue && $0.result != nil }
        }
    }

    /// Waits until all of a step has come.
    /// - Parameters:
    ///   - type: what Apple posts; nil where it posts nothing.
    ///   - status: what the purchase is then.
    ///   - instant: from when on; by default from the signing of the post.
    /// - Throws: `CommandFailure` with what did not come.
    mutating func step(
        _ name: String, _ what: String, _ type: NotificationType?, to status: SubscriptionStatus,
        at instant: Timestamp? = nil
    ) async throws -> DemoStep {
        var step = DemoStep(name: name, what: what, before: last)
        var instant = instant
        var isTold: (DemoPost) -> Bool = { _ in false }
        if let type {
            let post = try await post(type)
            guard post.result == "SUCCESS" else {
                throw CommandFailure(
                    "\(name): Apple's post of \(post.name) came to nothing (\(post.result ?? "")): does the receiver run to which "
                        + "\(stage.shop.url) posts?")
            }
            instant = instant ?? post.signedAt
            // What is signed later belongs to the next step, however early it comes.
            isTold = { $0.signedAt <= post.signedAt }
        }
        let due = instant ?? WallClock.now()
        try await Task.sleep(for: .milliseconds(max(0, due.milliseconds(since: WallClock.now()))))
        step.after = try await purchase(at: due, as: status, in: name)
        step.posts = try await news().filter(isTold)
        told.formUnion(step.posts.map(\.uuid))
        if type != nil {
            step.events = try await stage.until("\(name): no event was sent") {
                let events = try await self.events()
                return events.isEmpty ? nil : events
            }
            cursor = step.events.last?.position ?? cursor
        }
        step.answer = try await answer(status, until: step.after?.accessUntil)
        if type != nil { try await takeEvents(&step, until: status) }
        step.answer = try await stage.api.account()
        step.path = stage.api.path
        last = step.after
        return step
    }

    /// What Apple has posted about the customer, or tried to, that was not told.
    private func news() async throws -> [DemoPost] { try await stage.posts().filter { !told.contains($0.uuid) } }

    /// Takes the events that go with a step; some come by the clock a moment later. It ends once an event says the status that the step led to,
    /// and no event comes after that for a while.
    private mutating func takeEvents(_ step: inout DemoStep, until status: SubscriptionStatus) async throws {
        let end = ContinuousClock.now + Self.longest
        var last = ContinuousClock.now
        func isTold(_ event: PlacedEvent) -> Bool {
            let data = (try? JSONDocument(Array(event.listed.utf8))).flatMap { JSONValue($0.root)["data"] }
            return data?[opens ? "access" : "subscription"]?["status"]?.asText == status.rawValue
        }
        while ContinuousClock.now < end {
            if ContinuousClock.now - last > Self.quiet, step.events.contains(where: isTold) { return }
            try await Task.sleep(for: .milliseconds(50))
            let more = try await events()
            guard let newest = more.last else { continue }
            (cursor, last) = (newest.position, .now)
            step.events += more
        }
    }

    private func events() async throws -> [PlacedEvent] {
        try await stage.events.page(after: cursor, limit: 1000, of: token).events
    }

    private func purchase(
        at instant: Timestamp, as status: SubscriptionStatus, in name: String
    ) async throws -> SubscriptionView {
        var found: SubscriptionView?
        do {
            return try await stage.until("") {
                found = try await stage.reader.status(of: original ?? "", at: instant).first
                return found?.status == status ? found : nil
            }
        } catch is CommandFailure {
            let seen = found?.status.map { "is \($0.rawValue)" } ?? "is not known"
            throw CommandFailure(
                "\(name): the purchase \(original ?? "") \(seen) and not \(status.rawValue) after "
                    + "\(stage.patience / .seconds(1)) seconds: does a worker run? See storehook queue")
        }
    }

    /// What the account API answers, once it knows. What is over by then is not waited for.
    private func answer(_ status: SubscriptionStatus, until end: Timestamp?) async throws -> DemoAPI.Answer {
        guard opens else { return try await stage.api.account() }
        return try await stage.until("GET \(stage.api.path) does not answer with status \(status.rawValue)") {
            let answer = try await stage.api.account()
            let isOver = status.access && end.map { $0 <= WallClock.now() } ?? false
            return answer.body["status"]?.asText == status.rawValue || isOver ? answer : nil
        }
    }
}
