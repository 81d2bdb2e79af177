import AppStorePayloads
import Base

extension ServerAPI {
    /// What both kinds of extension have in common.
    private func terms(_ call: Call) throws(Refusal) -> (object: JSONObject, days: Int64, request: String) {
        let body = try call.object()
        guard let days = body.integer("extendByDays"), (1...90).contains(days) else {
            throw Refusal(4_000_009, "Invalid extend by days value.")
        }
        guard let reason = body.integer("extendReasonCode"), (0...3).contains(reason) else {
            throw Refusal(4_000_010, "Invalid extend reason code.")
        }
        guard let request = body.string("requestIdentifier"), (1...128).contains(request.count) else {
            throw Refusal(4_000_011, "Invalid request identifier.")
        }
        return (body, days, request)
    }

    func extend(_ call: Call, _ id: String) async throws(Refusal) -> JSONValue {
        let terms = try terms(call)
        let (customer, line) = try await line(id, call)
        let state = customer.subscriber[line]
        guard let latest = state.transactions.last, latest.inAppOwnershipType == "PURCHASED" else {
            throw Refusal(4_030_007, "Family shared subscriptions are not eligible for extension.")
        }
        let now = await store.now
        guard state.phase == .active, state.expiresDate > now, latest.price > 0 else {
            throw Refusal(4_030_004, "Subscription is not eligible for a renewal date extension.")
        }
        guard await store.canExtend(id) else {
            throw Refusal(4_030_005, "Subscription has already received the maximum number of extensions.")
        }
        await store.act(customer.id) { customer, now in
            customer.subscriber.extend(line, by: .days(terms.days), at: now)
        }
        await store.noteExtension(id)
        await store.note(
            .members([
                "kind": "extension", "originalTransactionId": .string(id), "days": .integer(terms.days),
                "requestIdentifier": .string(terms.request),
            ]))
        let after = await store.customers[customer.id]?.subscriber[line].expiresDate ?? state.expiresDate
        return .members([
            "originalTransactionId": .string(id), "webOrderLineItemId": latest.webOrderLineItemId.map(JSONValue.string),
            "success": true, "effectiveDate": .integer(after),
        ])
    }

    func extendAll(_ call: Call) async throws(Refusal) -> Answer {
        let terms = try terms(call)
        guard UniqueIdentifier(terms.request) != nil else { throw Refusal(4_000_011, "Invalid request identifier.") }
        guard let product = terms.object.string("productId"),
            Catalogue.product(product, await store.speed)?.kind == .autoRenewable
        else { throw Refusal(4_000_023, "Invalid product id.") }
        var countries: Set<String> = []
        if terms.object.has("storefrontCountryCodes") {
            let codes = terms.object.strings("storefrontCountryCodes") ?? []
            guard !codes.isEmpty else { throw Refusal(4_000_027, "Invalid request. The storefront list is empty.") }
            guard codes.allSatisfy({ $0.count == 3 }) else {
                throw Refusal(4_000_028, "Invalid request. A storefront country code is invalid.")
            }
            countries = Set(codes)
        }
        await store.begin(
            SimulatedAppStore.MassExtension(
                request: terms.request, product: product, days: terms.days, countries: countries, place: call.place))
        return Answer(status: 202, value: .members(["requestIdentifier": .string(terms.request)]))
    }

    func massStatus(_ call: Call, _ product: String, _ request: String) async throws(Refusal) -> JSONValue {
        guard
            let work = await store.massExtensions.last(where: {
                $0.request.lowercased() == request.lowercased() && $0.product == product && $0.place == call.place
            })
        else { throw Refusal(4_040_009, "Status request not found.") }
        return .members([
            "requestIdentifier": .string(work.request), "complete": .bool(work.done != nil),
            "completeDate": work.done.map(JSONValue.integer),
            "succeededCount": work.done == nil ? nil : .integer(work.succeeded),
            "failedCount": work.done == nil ? nil : .integer(work.failed),
        ])
    }
}

extension SimulatedAppStore {
    /// Takes a mass extension on; the same request twice is one.
    func begin(_ work: MassExtension) {
        guard !massExtensions.contains(where: { $0.request == work.request }) else { return }
        massExtensions.append(work)
        note(
            .members([
                "kind": "massExtension", "productId": .string(work.product), "days": .integer(work.days),
                "requestIdentifier": .string(work.request),
            ]))
    }
}
