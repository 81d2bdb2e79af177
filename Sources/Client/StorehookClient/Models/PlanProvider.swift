import Foundation

/// What the models ask: the manager, and the tracker beside it.
@MainActor
protocol PlanProvider: AnyObject {
    /// What is known of the plan.
    var facts: PlanFacts { get }
    /// What is for sale, with nothing chosen.
    var offers: PaywallContent { get }
    /// Whether the products are being read.
    var isLoading: Bool { get }
    /// Now, whatever the device's clock says.
    var now: Date { get }
    /// How much was used of a feature; nil where nothing is known of it.
    func use(of feature: String) -> UsageLine?
    /// One element for each change of the above from now on.
    var changes: AsyncStream<Void> { get }
    /// Reads the products.
    /// - Returns: what to show where that failed.
    func loadProducts(_ texts: ClientTexts) async -> ClientMessage?
    /// Buys a product.
    func purchase(_ productID: String, _ texts: ClientTexts) async -> PurchaseEnd
    /// Restores what was bought.
    func restore(_ texts: ClientTexts) async -> RestoreEnd
}

/// How a purchase ended, as a paywall shows it.
enum PurchaseEnd: Sendable, Hashable {
    case done, pending, cancelled
    case failed(ClientMessage)
}

/// How restoring ended, as its screen shows it.
enum RestoreEnd: Sendable, Hashable {
    /// So many purchases are this account's.
    case restored(Int)
    /// There was nothing to restore.
    case nothing
    /// The customer closed the store's window.
    case cancelled
    case failed(ClientMessage)
}
