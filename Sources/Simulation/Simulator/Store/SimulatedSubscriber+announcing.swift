extension SimulatedSubscriber {
    /// What Apple says about a token for purchases outside the App Store.
    public enum TokenNotice: String, Sendable, Hashable, CaseIterable {
        /// The token came into being.
        case created = "CREATED"
        /// It is still in use.
        case activeTokenReminder = "ACTIVE_TOKEN_REMINDER"
        /// The seller has not reported on it.
        case unreported = "UNREPORTED"
    }

    /// A test that the seller asked for. TEST: no transaction, and no App Apple ID in the Sandbox.
    public mutating func test(at instant: Milliseconds) {
        emit("TEST", at: instant) { [app] _, _ in
            .data(
                DataRecord(
                    appAppleId: app.environment == .production ? app.appAppleId : nil, bundleId: app.bundleId,
                    environment: app.environment.rawValue))
        }
    }

    /// The end of a mass extension. RENEWAL_EXTENSION/SUMMARY.
    public mutating func massExtensionSummary(
        of product: SimulatedProduct, request: String, succeeded: Int64, failed: Int64, at instant: Milliseconds
    ) {
        emit("RENEWAL_EXTENSION", "SUMMARY", at: instant) { [app, storefront] _, _ in
            .summary(
                SummaryRecord(
                    requestIdentifier: request, environment: app.environment.rawValue, appAppleId: app.appAppleId,
                    bundleId: app.bundleId, productId: product.id, storefrontCountryCodes: [storefront.code],
                    succeededCount: succeeded, failedCount: failed))
        }
    }

    /// A mass extension could not extend this subscription. RENEWAL_EXTENSION/FAILURE.
    public mutating func massExtensionFailure(_ line: SubscriptionLine.Reference, at instant: Milliseconds) {
        emit("RENEWAL_EXTENSION", "FAILURE", on: line, at: instant)
    }

    /// A token for a purchase outside the App Store. EXTERNAL_PURCHASE_TOKEN; not about a subscription.
    ///
    /// - Parameter token: without the `SANDBOX_` that is put before it in the Sandbox.
    public mutating func externalPurchaseToken(
        _ notice: TokenNotice, token: String, createdAt creation: Milliseconds, at instant: Milliseconds
    ) {
        emit("EXTERNAL_PURCHASE_TOKEN", notice.rawValue, at: instant) { [app] _, _ in
            .externalPurchaseToken(
                ExternalPurchaseTokenRecord(
                    externalPurchaseId: (app.environment == .sandbox ? "SANDBOX_" : "") + token,
                    tokenCreationDate: creation, appAppleId: app.appAppleId, bundleId: app.bundleId,
                    tokenExpirationDate: creation + .days(365), tokenType: "SERVICES"))
        }
    }

    /// A parent takes consent back. RESCIND_CONSENT; not about a subscription.
    public mutating func rescindConsent(firstDownloadAt download: Milliseconds, at instant: Milliseconds) {
        emit("RESCIND_CONSENT", at: instant) { [app, appTransactionId] _, nested in
            .appData(
                AppDataRecord(
                    appAppleId: app.appAppleId, bundleId: app.bundleId, environment: app.environment.rawValue,
                    appTransaction: AppTransactionRecord(
                        receiptType: app.environment.rawValue, appAppleId: app.appAppleId, bundleId: app.bundleId,
                        applicationVersion: app.bundleVersion, signedDate: nested, originalPurchaseDate: download,
                        originalApplicationVersion: "1", appTransactionId: appTransactionId)))
        }
    }

    /// The Advanced Commerce API changed what a subscription is made of: PRICE_CHANGE, METADATA_UPDATE, MIGRATION or MIGRATE.
    ///
    /// - Parameter contents: what is sold from now on.
    public mutating func changeCommerce(
        _ line: SubscriptionLine.Reference, announcedAs type: String, to contents: AdvancedCommerceRecord,
        at instant: Milliseconds
    ) {
        lines[line.index].advancedCommerce = contents
        self[latest(of: line)].advancedCommerce = contents
        emit(type, on: line, at: instant)
    }

    /// A notification of an unknown type about a subscription. Its signed parts still hold the current state.
    ///
    /// - Parameter autoRenew: the auto-renew state that the event sets; nil where it sets none.
    public mutating func announce(
        _ type: String, _ subtype: String?, _ line: SubscriptionLine.Reference, autoRenew: Bool? = nil,
        at instant: Milliseconds
    ) {
        if let autoRenew {
            lines[line.index].renewal.autoRenewStatus = autoRenew ? 1 : 0
            refreshRenewal(line)
        }
        emit(type, subtype, on: line, at: instant)
    }
}
