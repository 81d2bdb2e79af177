import Foundation

@testable import StorehookClient

/// A plan that a test sets, in place of the manager.
@MainActor
final class FakePlan: PlanProvider {
    var facts = PlanFacts() { didSet { changed() } }
    var offers = PaywallContent() { didSet { changed() } }
    var isLoading = false { didSet { changed() } }
    var now = Date(timeIntervalSince1970: 1_800_000_000)
    var uses: [String: UsageLine] = [:]
    /// How the next calls end.
    var loadEnd: ClientMessage?
    var purchaseEnd = PurchaseEnd.done
    var restoreEnd = RestoreEnd.nothing
    /// What was called.
    var calls: [String] = []
    /// Where calls wait, where a test sets it.
    var gate: Gate?

    private var listeners: [AsyncStream<Void>.Continuation] = []

    var changes: AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        listeners.append(continuation)
        return stream
    }

    private func changed() { for listener in listeners { listener.yield() } }

    func use(of feature: String) -> UsageLine? { uses[feature] }

    func loadProducts(_ texts: ClientTexts) async -> ClientMessage? {
        calls.append("load")
        isLoading = true
        await gate?.wait()
        isLoading = false
        return loadEnd
    }

    func purchase(_ productID: String, _ texts: ClientTexts) async -> PurchaseEnd {
        calls.append("purchase \(productID)")
        await gate?.wait()
        return purchaseEnd
    }

    func restore(_ texts: ClientTexts) async -> RestoreEnd {
        calls.append("restore")
        await gate?.wait()
        return restoreEnd
    }

    /// What the Readmigo document sells, in short.
    static let offers = PaywallContent(
        offers: [offer("monthly", "pro", .month), offer("yearly", "pro", .year), offer("top", "premium", .lifetime)],
        rules: SampleRules.readmigo)

    private static func offer(_ id: String, _ tier: String, _ period: PaywallPeriod) -> PaywallOffer {
        PaywallOffer(
            productID: id, name: id, tier: tier, tierName: tier.capitalized, period: period, displayPrice: "¥18",
            price: 18, currency: "CNY")
    }
}
