import AppStorePayloads
import EvidenceStore
import Foundation
import Postgres
import Simulation
import StandInSupport
import Subscriptions
import TestSupport
import Testing

@Suite("Texts that are longer than Apple's")
struct LongTextTests {
    /// Where a member stands, and how it comes.
    private enum Place: String, CaseIterable {
        case notification, data, summary, externalPurchaseToken, appData
        case transactionInNotification, renewalInNotification, appTransactionInNotification
        case transaction, renewal, appTransaction
        case receiptTransaction, receiptRenewal
    }

    private static let transactionMembers = [
        "transactionId", "originalTransactionId", "bundleId", "environment", "webOrderLineItemId", "productId",
        "subscriptionGroupIdentifier", "type", "inAppOwnershipType", "appAccountToken", "revocationType",
        "offerIdentifier", "offerDiscountType", "offerPeriod", "transactionReason", "additionalTransactionReason",
        "storefront", "storefrontId", "currency", "appTransactionId", "billingPlanType",
    ]
    private static let renewalMembers = [
        "originalTransactionId", "environment", "productId", "autoRenewProductId", "currency", "offerIdentifier",
        "offerDiscountType", "offerPeriod", "eligibleWinBackOfferIds", "appAccountToken", "appTransactionId",
    ]
    private static let appTransactionMembers = [
        "bundleId", "receiptType", "appTransactionId", "applicationVersion", "originalApplicationVersion",
        "originalPlatform", "deviceVerification", "deviceVerificationNonce",
    ]
    private static let lists: Set = ["eligibleWinBackOfferIds", "storefrontCountryCodes"]
    private static let records: Set = ["signedTransactionInfo", "signedRenewalInfo", "signedAppTransactionInfo"]

    private static func members(of place: Place) -> [String] {
        switch place {
        case .notification: ["notificationType", "subtype", "notificationUUID", "version"]
        case .data:
            [
                "environment", "bundleId", "bundleVersion", "signedTransactionInfo", "signedRenewalInfo",
                "consumptionRequestReason",
            ]
        case .summary: ["requestIdentifier", "environment", "bundleId", "productId", "storefrontCountryCodes"]
        case .externalPurchaseToken: ["externalPurchaseId", "bundleId", "tokenType"]
        case .appData: ["environment", "bundleId", "signedAppTransactionInfo"]
        case .transactionInNotification, .transaction: transactionMembers
        case .renewalInNotification, .renewal: renewalMembers
        case .appTransactionInNotification, .appTransaction: appTransactionMembers
        case .receiptTransaction:
            [
                "transaction_id", "original_transaction_id", "product_id", "web_order_line_item_id",
                "subscription_group_identifier", "in_app_ownership_type", "app_account_token", "promotional_offer_id",
            ]
        case .receiptRenewal: ["original_transaction_id", "product_id", "auto_renew_product_id"]
        }
    }

    private static func object(_ json: [UInt8]?) throws -> [String: Any] {
        guard let json, let object = try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any] else {
            throw NeverHappened("an object")
        }
        return object
    }

    private static func json(_ object: [String: Any]) throws -> [UInt8] {
        Array(try JSONSerialization.data(withJSONObject: object))
    }

    /// Evidence in which some members of a place have other values.
    private static func evidence(
        _ bench: Bench, _ place: Place, lane: Int, _ changes: [String: Any] = [:]
    ) throws -> Evidence {
        func signed(_ object: [String: Any], _ isChanged: Bool) throws -> String {
            bench.authority.sign(try json(isChanged ? object.merging(changes) { $1 } : object))
        }
        func alone(_ kind: EvidenceKind, _ object: [String: Any]) throws -> Evidence {
            Evidence(kind, from: .api, Array(try signed(object, true).utf8))
        }
        func said(_ kind: EvidenceKind, _ name: String, _ object: [String: Any]) throws -> Evidence {
            let whole: [String: Any] = [
                "bundle_id": Bench.app.bundleId, "environment": "Sandbox", "request_date_ms": Bench.now - 3_600_000,
                name: object.merging(changes) { $1 },
            ]
            return Evidence(kind, from: .api, try json(whole))
        }
        // A renewal info by itself is of the purchase before it.
        let purchase = bench.purchase(lane: place == .renewal ? lane - 1 : lane)
        let transaction = try object(purchase.transaction?.json)
        let renewal = try object(purchase.renewal?.json)
        let app: [String: Any] = [
            "bundleId": Bench.app.bundleId, "receiptType": "Sandbox", "receiptCreationDate": Bench.now,
            "source": "\(lane)",
        ]
        let claims: [String: Any] = ["bundleId": Bench.app.bundleId, "environment": "Sandbox"]
        var part = claims
        var name = place.rawValue
        switch place {
        case .transaction: return try alone(.transaction, transaction)
        case .renewal: return try alone(.renewal, renewal)
        case .appTransaction: return try alone(.appTransaction, app)
        case .receiptTransaction:
            return try said(
                .receiptTransaction, "purchase",
                [
                    "transaction_id": "9\(lane)", "original_transaction_id": "9\(lane)", "product_id": "basic",
                    "purchase_date_ms": "\(Bench.now - 86_400_000)", "expires_date_ms": "\(Bench.now + 86_400_000)",
                ])
        case .receiptRenewal:
            return try said(
                .receiptRenewal, "renewal",
                [
                    "original_transaction_id": "9\(lane)", "product_id": "basic", "auto_renew_product_id": "basic",
                    "auto_renew_status": "1",
                ])
        case .summary: part["requestIdentifier"] = UUID().uuidString
        case .externalPurchaseToken:
            part = ["bundleId": Bench.app.bundleId, "externalPurchaseId": "SANDBOX_\(UUID())"]
        case .appData, .appTransactionInNotification:
            name = "appData"
            part["signedAppTransactionInfo"] = try signed(app, place == .appTransactionInNotification)
        case .notification, .data, .transactionInNotification, .renewalInNotification:
            name = "data"
            part["signedTransactionInfo"] = try signed(transaction, place == .transactionInNotification)
            part["signedRenewalInfo"] = try signed(renewal, place == .renewalInNotification)
        }
        if place.rawValue == name { part.merge(changes) { $1 } }
        var outer: [String: Any] = [
            "notificationType": "SUBSCRIBED", "notificationUUID": UUID().uuidString, "version": "2.0",
            "signedDate": Bench.now, name: part,
        ]
        if place == .notification { outer.merge(changes) { $1 } }
        return Evidence(.notification, from: .webhook, Array(bench.authority.sign(try json(outer)).utf8))
    }

    /// Letters and digits that PostgreSQL cannot compress: of others an index takes more.
    private static func noise(_ count: Int) -> String {
        var generator = TestSupport.SeededGenerator(seed: UInt64(count))
        let characters = Array("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
        return String(
            decoding: (0..<count).map { _ in characters.randomElement(using: &generator) ?? 0x30 }, as: UTF8.self)
    }

    private static func letters(_ bench: Bench) async throws -> [String] {
        try await bench.letters().map { "\($0.reason): \($0.message)" }
    }

    @Test("are refused as malformed_payload, whatever the record and the member, and never by the database")
    func refused() async throws {
        try await withBench { bench in
            // What is as Apple's is taken.
            try await bench.outbox.store(
                Place.allCases.enumerated().map { try Self.evidence(bench, $1, lane: $0 + 1) })
            try await bench.workOff()
            #expect(try await Self.letters(bench) == [])
            var evidence: [Evidence] = []
            var records = 0
            for place in Place.allCases {
                for member in Self.members(of: place) {
                    for length in [3000, 100_000] {
                        let text = Self.noise(length)
                        let value: Any = Self.lists.contains(member) ? ["x", text] : text
                        evidence.append(
                            try Self.evidence(bench, place, lane: 100 + evidence.count, [member: value]))
                        // A record within another is no text to keep, and may be as long: this is none.
                        if Self.records.contains(member) { records += 1 }
                    }
                }
            }
            try await bench.outbox.store(evidence)
            try await bench.workOff()
            let letters = try await Self.letters(bench)
            #expect(letters.count == evidence.count)
            let others = letters.filter { !$0.hasPrefix("malformed_payload: ") }
            #expect(others.count == records && others.allSatisfy { $0.hasPrefix("malformed: signed") }, "\(others)")
        }
    }

    @Test("up to the bound each is recorded, all of them in one record")
    func longest() async throws {
        let table = try Self.table()
        try await withBench { bench in
            // Members whose value decides what the record is, or what verifies within it.
            let kept = Self.records.union([
                "transactionId", "originalTransactionId", "bundleId", "environment", "receiptType", "type",
                "notificationUUID", "externalPurchaseId",
            ])
            var evidence: [Evidence] = []
            for place in Place.allCases where place != .receiptTransaction && place != .receiptRenewal {
                var changes: [String: Any] = [:]
                for member in Self.members(of: place) where !kept.contains(member) {
                    // What takes the most room where it is written as JSON: an event has a bound as a whole.
                    let text = String(repeating: "\u{1}", count: try #require(table[member]))
                    changes[member] = Self.lists.contains(member) ? [text, text] : text
                }
                evidence.append(try Self.evidence(bench, place, lane: 1 + evidence.count, changes))
            }
            // The keys, which indexes have together.
            let id = Self.noise(255)
            let keys = ["transactionId": id, "originalTransactionId": id, "webOrderLineItemId": id]
            evidence.append(try Self.evidence(bench, .transaction, lane: 99, keys))
            try await bench.outbox.store(evidence)
            try await bench.workOff()
            #expect(try await Self.letters(bench) == [])
            let longest: Int64 = try await bench.value(
                "select count(*) from storehook.transactions where length(web_order_line_item_id) = 255")
            #expect(longest == 3)
        }
    }

    @Test("every member that is read is among those that are tried")
    func complete() throws {
        let tried = Set(Place.allCases.flatMap(Self.members))
        let answered: Set = ["testNotificationToken", "paginationToken", "revision", "signedPayload"]
        #expect(Set(try Self.table().keys).subtracting(tried) == answered)
        for (file, places) in [
            ("NotificationPayload", [Place.notification]), ("NotificationData", [.data]), ("SummaryPart", [.summary]),
            ("ExternalPurchaseTokenPart", [.externalPurchaseToken]), ("AppDataPart", [.appData]),
            ("TransactionPayload", [.transaction, .transactionInNotification]),
            ("RenewalInfoPayload", [.renewal, .renewalInNotification]),
            ("AppTransactionPayload", [.appTransaction, .appTransactionInNotification]),
        ] {
            let text = try String(
                contentsOf: packageRoot.appending(
                    path: "Sources/AppStore/AppStorePayloads/\(file)+decode.swift"), encoding: .utf8)
            let read = Set(text.matches(of: /fields\.\w+\(\.(\w+)\)/).map { String($0.1) })
            for place in places { #expect(read == Set(Self.members(of: place)), "\(file)") }
        }
    }

    /// The table of bounds, from its source.
    private static func table() throws -> [String: Int] {
        let source = try String(
            contentsOf: packageRoot.appending(path: "Sources/AppStore/AppStorePayloads/TextMember.swift"),
            encoding: .utf8)
        return source.matches(of: /static let \w+ = TextMember\("(\w+)", ([0-9_]+)\)/)
            .reduce(into: [:]) { $0[String($1.1)] = Int($1.2.replacing("_", with: "")) }
    }
}
