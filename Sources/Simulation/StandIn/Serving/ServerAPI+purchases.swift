import AppStorePayloads
import Base

extension ServerAPI {
    func history(_ call: Call, _ id: String) async throws(Refusal) -> JSONValue {
        let customer = try await customer(id, call)
        func instant(_ name: String, _ code: Int64) throws(Refusal) -> Int64? {
            guard let text = call.value(name) else { return nil }
            guard let value = Int64(text) else { throw Refusal(code, "Invalid \(name).") }
            return value
        }
        let start = try instant("startDate", 4_000_015)
        let end = try instant("endDate", 4_000_016)
        if let start, let end, start >= end { throw Refusal(4_000_013, "Start date is after end date.") }
        let sort = call.value("sort") ?? "ASCENDING"
        guard ["ASCENDING", "DESCENDING"].contains(sort) else { throw Refusal(4_000_021, "Invalid sort.") }
        let kinds = [
            "AUTO_RENEWABLE": "Auto-Renewable Subscription", "NON_RENEWABLE": "Non-Renewing Subscription",
            "CONSUMABLE": "Consumable", "NON_CONSUMABLE": "Non-Consumable",
        ]
        var types: Set<String> = []
        for name in call.values("productType") {
            guard let kind = kinds[name] else { throw Refusal(4_000_022, "Invalid product type.") }
            types.insert(kind)
        }
        let ownership = call.value("inAppOwnershipType")
        guard ownership == nil || ["PURCHASED", "FAMILY_SHARED"].contains(ownership) else {
            throw Refusal(4_000_026, "Invalid in-app ownership type.")
        }
        let revoked = call.value("revoked")
        guard revoked == nil || ["true", "false"].contains(revoked) else {
            throw Refusal(4_000_030, "Invalid revoked.")
        }
        let products = Set(call.values("productId"))
        let groups = Set(call.values("subscriptionGroupIdentifier"))
        var records = customer.subscriber.allItems.map { customer.subscriber[$0] }.filter { record in
            (start.map { record.purchaseDate >= $0 } ?? true) && (end.map { record.purchaseDate < $0 } ?? true)
                && (products.isEmpty || products.contains(record.productId))
                && (types.isEmpty || types.contains(record.type))
                && (groups.isEmpty || groups.contains(record.subscriptionGroupIdentifier ?? ""))
                && (ownership == nil || record.inAppOwnershipType == ownership)
                && (revoked == nil || (record.revocationDate != nil) == (revoked == "true"))
        }.sorted { ($0.signedDate, $0.transactionId) < ($1.signedDate, $1.transactionId) }
        if sort == "DESCENDING" { records.reverse() }
        return .members(try await page(records, call).merging(await head(call)) { first, _ in first })
    }

    func transaction(_ call: Call, _ id: String) async throws(Refusal) -> JSONValue {
        let (customer, item) = try await sold(id, call)
        return .members([
            "signedTransactionInfo": .string(await store.signed(customer.subscriber[item], at: call.instant))
        ])
    }

    func statuses(_ call: Call, _ id: String) async throws(Refusal) -> JSONValue {
        let customer = try await customer(id, call)
        var wanted: Set<Int> = []
        for text in call.values("status") {
            guard let status = Int(text), (1...5).contains(status) else { throw Refusal(4_000_031, "Invalid status.") }
            wanted.insert(status)
        }
        let now = await store.now
        var groups: [String: [JSONValue]] = [:]
        for reference in customer.subscriber.allLines {
            let line = customer.subscriber[reference]
            let status = customer.subscriber.appleStatus(of: reference, at: now)
            guard wanted.isEmpty || wanted.contains(status), let group = line.product.group,
                let latest = line.transactions.last
            else { continue }
            groups[group, default: []].append(
                .members([
                    "originalTransactionId": .string(line.originalTransactionId), "status": .integer(Int64(status)),
                    "signedTransactionInfo": .string(await store.signed(latest, at: call.instant)),
                    "signedRenewalInfo": .string(await store.signed(line.renewal, at: call.instant)),
                ]))
        }
        let data = groups.sorted { $0.key < $1.key }.map { group, lines in
            JSONValue.members(["subscriptionGroupIdentifier": .string(group), "lastTransactions": .array(lines)])
        }
        return .members(await head(call).merging(["data": .array(data)]) { first, _ in first })
    }

    func appTransaction(_ call: Call, _ id: String) async throws(Refusal) -> JSONValue {
        let customer = try await customer(id, call)
        let record = customer.subscriber.appTransaction(at: await store.now, firstDownloadAt: customer.joined)
        return .members(["signedAppTransactionInfo": .string(await store.sign(record.json))])
    }

    func finish(_ call: Call, _ id: String) async throws(Refusal) -> Answer {
        let (customer, item) = try await sold(id, call)
        await store.finish(customer.subscriber[item])
        await store.note(.members(["kind": "finish", "transactionId": .string(id)]))
        return Answer()
    }

    func refunds(_ call: Call, _ id: String) async throws(Refusal) -> JSONValue {
        let customer = try await customer(id, call)
        let records = customer.subscriber.allItems.map { customer.subscriber[$0] }
            .filter { $0.revocationDate != nil && $0.revocationType != "FAMILY_REVOKE" }
            .sorted { ($0.revocationDate ?? 0, $0.transactionId) < ($1.revocationDate ?? 0, $1.transactionId) }
        return .members(try await page(records, call))
    }

    /// An order is named after its transaction; the App Store alone has orders.
    func order(_ call: Call, _ id: String) async throws(Refusal) -> JSONValue {
        guard call.place == .production, let number = id.split(separator: "M").last,
            let (customer, item) = try? await sold(String(number), call)
        else { return .members(["status": 1, "signedTransactions": .array([])]) }
        return .members([
            "status": 0,
            "signedTransactions": .texts([await store.signed(customer.subscriber[item], at: call.instant)]),
        ])
    }

    func accountToken(_ call: Call, _ id: String) async throws(Refusal) -> Answer {
        guard let token = try call.object().string("appAccountToken"), let token = UniqueIdentifier(token) else {
            throw Refusal(4_000_183, "Invalid request. The app account token field must be a valid UUID.")
        }
        let (customer, item) = try await sold(id, call)
        let record = customer.subscriber[item]
        guard record.originalTransactionId == id else {
            throw Refusal(4_000_187, "The transaction id is not an original transaction id.")
        }
        guard record.inAppOwnershipType == "PURCHASED" else {
            throw Refusal(4_000_185, "Family transactions are not supported.")
        }
        await store.change(customer.id) { customer in
            if let line = customer.line(id) {
                customer.subscriber.changeAccountToken(line, to: token.description)
            } else {
                customer.subscriber[item].appAccountToken = token.description
            }
        }
        await store.note(
            .members([
                "kind": "appAccountToken", "originalTransactionId": .string(id),
                "appAccountToken": .string(token.description),
            ]))
        return Answer()
    }

    /// Judged by Apple's rules for version 2; which of its codes Apple uses for the newer fields is an inference.
    func consumption(_ call: Call, _ id: String) async throws(Refusal) -> Answer {
        let (customer, item) = try await sold(id, call)
        let record = customer.subscriber[item]
        let body = try call.object()
        guard body.bool("customerConsented") == true else {
            throw Refusal(
                4_000_035, "Invalid request. The customer consented field is invalid. The field must be true.")
        }
        let delivery = body.string("deliveryStatus")
        guard
            let delivery,
            [
                "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM", "UNDELIVERED_SERVER_OUTAGE",
                "UNDELIVERED_OTHER",
            ].contains(delivery)
        else { throw Refusal(4_000_036, "Invalid request. The delivery status field is invalid.") }
        guard let sample = body.bool("sampleContentProvided") else {
            throw Refusal(4_000_041, "Invalid request. The sample content provided field is invalid.")
        }
        let preference = body.string("refundPreference")
        guard preference == nil || ["DECLINE", "GRANT_FULL", "GRANT_PRORATED"].contains(preference) else {
            throw Refusal(4_000_000, "Invalid request. The refund preference field is invalid.")
        }
        let percentage = body.integer("consumptionPercentage")
        let isSubscription = record.type == "Auto-Renewable Subscription"
        let isRight =
            !body.has("consumptionPercentage")
            || percentage.map { (0...100_000).contains($0) } == true
                && (delivery == "DELIVERED" || percentage == 0)
        let isProrated =
            preference != "GRANT_PRORATED" || (isSubscription ? percentage == nil : (percentage ?? 0) > 0)
        guard isRight, isProrated else {
            throw Refusal(4_000_034, "Invalid request. The consumption percentage field is invalid.")
        }
        guard record.inAppOwnershipType == "PURCHASED" else {
            throw Refusal(4_000_047, "Invalid request. Transaction type not supported.")
        }
        await store.note(
            .members([
                "kind": "consumption", "transactionId": .string(id), "deliveryStatus": .string(delivery),
                "customerConsented": true, "sampleContentProvided": .bool(sample),
                "consumptionPercentage": percentage.map(JSONValue.integer),
                "refundPreference": preference.map(JSONValue.string), "at": .integer(await store.now),
            ]))
        return Answer(status: 202)
    }
}
