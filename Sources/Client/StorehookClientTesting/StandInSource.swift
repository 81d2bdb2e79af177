public import Foundation
public import StorehookClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A purchase source that buys at the stand-in for Apple's servers (`storehook app-store`) in place of the App Store: for tests,
/// for Linux, and for a demonstration without a device.
///
/// - It is what one customer's device would be: a customer has a name at the stand-in, whichever account of the app is
///   signed in.
/// - What is unfinished is handed out again by each new source, as by each start of an app, until ``finish(_:)``.
/// - It trusts the stand-in. A signature that the device finds bad is made by ``StandInFaults/distrust(_:reason:)``.
///
/// May be used from any thread. Every method throws ``StandInError``, or what the transport throws.
public final class StandInSource: PurchaseSource {
    /// Where the stand-in listens: `http://127.0.0.1:8090`.
    public let url: URL
    /// The customer's name at the stand-in. The first purchase makes the customer.
    public let customer: String
    /// `Sandbox` or `Production`: where the customer buys.
    public let environment: String
    /// What goes wrong on purpose.
    public let faults: StandInFaults

    private let transport: any HTTPTransport
    private let listeners: StandInListeners

    /// A customer's device.
    /// - Parameters:
    ///   - interval: how many seconds pass between two looks for transactions that come by themselves, while an app reads
    ///     ``updates``; nil where only ``look()`` looks.
    ///   - transport: carries the requests to the stand-in.
    public init(
        url: URL, customer: String, environment: String = "Sandbox", interval: TimeInterval? = 1,
        faults: StandInFaults = StandInFaults(), transport: any HTTPTransport = URLSessionTransport()
    ) {
        self.url = url
        self.customer = customer
        self.environment = environment
        self.faults = faults
        self.transport = transport
        listeners = StandInListeners(interval: interval)
    }

    // MARK: - PurchaseSource

    /// What the stand-in sells of these identifiers, in their order. Its prices are in US dollars.
    public func products(_ identifiers: [String]) async throws -> [StoreProduct] {
        let sold = try await ask(.products, StandInProduct.self, "products")
        return identifiers.compactMap { id in sold.first { $0.productId == id }?.product }
    }

    /// Buys for the customer. The transaction is unfinished until ``finish(_:)``.
    public func purchase(_ productID: String, appAccountToken: UUID) async throws -> PurchaseOutcome {
        switch faults.takePurchase() {
        case .cancelled: return .cancelled
        case .pending:
            listeners.postpone(productID, appAccountToken)
            return .pending
        case nil: return .success(try await buy(productID, appAccountToken))
        }
    }

    /// What the customer may use now by the stand-in's clock.
    public func currentEntitlements() async throws -> [StoreResult] {
        try await device(.entitlements, "currentEntitlements").currentEntitlements?.map(result) ?? []
    }

    /// Every transaction that was not finished, in the order of purchase; also refunds and revocations that no app has
    /// finished.
    public func unfinished() async throws -> [StoreResult] {
        try await device(.unfinished, "unfinished").unfinished?.map(result) ?? []
    }

    /// What comes by itself: renewals, refunds, revocations, purchases that were approved, and at its start what was left
    /// unfinished. A transaction comes once in each stream, and once more when it was refunded or revoked, or that was reversed.
    /// The stream ends when its reader's task is cancelled.
    public var updates: AsyncStream<StoreResult> {
        listeners.stream { [weak self] in await self?.look() }
    }

    /// The app has delivered the transaction; it is handed out no more. A second time changes nothing.
    public func finish(_ transaction: StoreTransaction) async throws {
        _ = try await post(.finish, "finish", ["customer": customer, "transactionId": transaction.id])
    }

    /// Asks the stand-in whether it is there: a customer's device always holds everything.
    public func sync() async throws { _ = try await device(.sync, "currentEntitlements") }

    // MARK: - What a test does

    /// Looks for transactions that came by themselves, and hands them to the streams of ``updates``. What fails is tried
    /// again at the next look.
    public func look() async {
        guard let found = try? await device(.unfinished, "unfinished").unfinished else { return }
        for item in found {
            guard let transaction = try? item.transaction() else { continue }
            listeners.hand(result(transaction), of: transaction)
        }
    }

    /// Buys what was pending. It comes by ``updates``, or as unfinished at the next start.
    public func approve() async throws {
        for (productID, token) in listeners.takePostponed() { _ = try await post(productID, token) }
        await look()
    }

    // MARK: - Requests

    private func buy(_ productID: String, _ token: UUID) async throws -> StoreResult {
        let transaction = try (await post(productID, token)).transaction()
        // A purchase is the caller's alone: it does not come by itself as well.
        listeners.note(transaction)
        return result(transaction)
    }

    private func post(_ productID: String, _ token: UUID) async throws -> StandInTransaction {
        let bought = try await post(
            .purchase, "purchases",
            [
                "productId": productID, "customer": customer, "environment": environment,
                "appAccountToken": token.uuidString.lowercased(),
            ])
        return try Self.read(StandInTransaction.self, bought)
    }

    private func device(_ point: StandInFaults.Point, _ part: String) async throws -> StandInDevice {
        do {
            let name = customer.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? customer
            let request = URLRequest(url: at("customers/\(name)?only=\(part)"))
            return try Self.read(StandInDevice.self, try await send(point, request))
        } catch StandInError.refused(status: 404, _) {
            // Who has bought nothing yet is no customer.
            return StandInDevice()
        }
    }

    private func ask<T: Decodable>(
        _ point: StandInFaults.Point, _ type: T.Type, _ path: String
    ) async throws -> [T] {
        try Self.read([T].self, try await send(point, URLRequest(url: at(path))))
    }

    private func post(_ point: StandInFaults.Point, _ path: String, _ body: [String: String]) async throws -> Data {
        var request = URLRequest(url: at(path))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder().encode(body)
        return try await send(point, request)
    }

    private func at(_ path: String) -> URL {
        // A base that ends with a slash or not, and a name that is percent-encoded already.
        let base = url.absoluteString.hasSuffix("/") ? String(url.absoluteString.dropLast()) : url.absoluteString
        return URL(string: "\(base)/stand-in/\(path)") ?? url
    }

    private func send(_ point: StandInFaults.Point, _ request: URLRequest) async throws -> Data {
        let cut = faults.take(point)
        if cut == .before { throw StandInError.cut(point) }
        let (data, response) = try await transport.send(request)
        if cut == .after { throw StandInError.cut(point) }
        guard response.statusCode == 200 else {
            let refusal = try? JSONDecoder().decode([String: String].self, from: data)
            throw StandInError.refused(
                status: response.statusCode,
                message: refusal?["error"] ?? String(decoding: data.prefix(200), as: UTF8.self))
        }
        return data
    }

    private static func read<T: Decodable>(_ type: T.Type, _ data: Data) throws -> T {
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            throw StandInError.unreadable("\(error)")
        }
    }

    private func result(_ item: StandInTransaction) throws -> StoreResult { result(try item.transaction()) }

    private func result(_ transaction: StoreTransaction) -> StoreResult {
        if let reason = faults.distrusted(transaction.id) { return .unverified(transaction, reason: reason) }
        return .verified(transaction)
    }
}
