#if canImport(StoreKit)
    public import Foundation
    import StoreKit

    /// The App Store, by StoreKit 2.
    ///
    /// No Apple compiler has seen this file: it is type-checked against StoreKit's declarations as its documentation states them, and
    /// calls nothing else of StoreKit.
    ///
    /// May be used from any thread. What fails throws ``ClientError/cancelled`` where the customer closed the store's window,
    /// ``ClientError/product`` where the App Store does not sell the product to this customer, a `URLError` where it was not reached, and
    /// otherwise what StoreKit throws.
    public struct StoreKitSource: PurchaseSource {
        /// The App Store of the customer who is signed in on this device.
        public init() {}

        /// What the App Store sells of these identifiers. It leaves out those that it does not know.
        public func products(_ identifiers: [String]) async throws -> [StoreProduct] {
            try await asked {
                try await Product.products(for: identifiers).map {
                    StoreProduct(
                        id: $0.id, displayName: $0.displayName, price: $0.price, displayPrice: $0.displayPrice,
                        currency: $0.priceFormatStyle.currencyCode)
                }
            }
        }

        /// Buys, for the account that the token stands for. The transaction is unfinished until ``finish(_:)``.
        public func purchase(_ productID: String, appAccountToken: UUID) async throws -> PurchaseOutcome {
            try await asked {
                guard let product = try await Product.products(for: [productID]).first else {
                    throw ClientError.product
                }
                switch try await product.purchase(options: [.appAccountToken(appAccountToken)]) {
                case .success(let result): return .success(StoreResult(result))
                case .pending: return .pending
                case .userCancelled: return .cancelled
                // What was bought comes by ``updates``.
                @unknown default: throw ClientError.unknown
                }
            }
        }

        /// What the customer may use now, as the device knows it.
        public func currentEntitlements() async throws -> [StoreResult] { await all(Transaction.currentEntitlements) }

        /// Every transaction that was not finished.
        public func unfinished() async throws -> [StoreResult] { await all(Transaction.unfinished) }

        /// What comes by itself: renewals, refunds, revocations, purchases that were approved or made on other devices. The stream
        /// ends when its reader's task is cancelled.
        public var updates: AsyncStream<StoreResult> {
            AsyncStream { continuation in
                let task = Task {
                    for await result in Transaction.updates { continuation.yield(StoreResult(result)) }
                    continuation.finish()
                }
                continuation.onTermination = { _ in task.cancel() }
            }
        }

        /// The app has delivered the transaction. A second time changes nothing. One that does not verify is never finished.
        public func finish(_ transaction: StoreTransaction) async throws {
            for await case .verified(let unfinished) in Transaction.unfinished
            where String(unfinished.id) == transaction.id {
                await unfinished.finish()
            }
        }

        /// Asks the App Store for everything that the customer has bought. It may ask the customer to sign in: call it only where the
        /// customer asked to restore.
        public func sync() async throws { try await asked { try await AppStore.sync() } }

        private func all(_ transactions: Transaction.Transactions) async -> [StoreResult] {
            var results: [StoreResult] = []
            for await result in transactions { results.append(StoreResult(result)) }
            return results
        }

        private func asked<Answer: Sendable>(_ ask: () async throws -> Answer) async throws -> Answer {
            do {
                return try await ask()
            } catch StoreKitError.userCancelled {
                throw ClientError.cancelled
            } catch StoreKitError.networkError(let error) {
                throw error
            }
        }
    }

    extension StoreResult {
        fileprivate init(_ result: VerificationResult<Transaction>) {
            let signed = result.jwsRepresentation
            switch result {
            case .verified(let transaction): self = .verified(StoreTransaction(transaction, signed))
            case .unverified(let transaction, let error):
                self = .unverified(StoreTransaction(transaction, signed), reason: "\(error)")
            }
        }
    }

    extension StoreTransaction {
        fileprivate init(_ transaction: Transaction, _ signed: String) {
            self.init(
                id: String(transaction.id), originalID: String(transaction.originalID),
                productID: transaction.productID,
                purchasedAt: transaction.purchaseDate, expiresAt: transaction.expirationDate,
                revokedAt: transaction.revocationDate, isUpgraded: transaction.isUpgraded,
                appAccountToken: transaction.appAccountToken, signedTransactionInfo: signed, signedRenewalInfo: nil)
        }
    }
#endif
