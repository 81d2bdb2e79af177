import AppStorePayloads
import Base

/// What a person does on a device or in the shop, and what an onlooker asks: the paths under `/stand-in`.
struct ControlAPI: Sendable {
    let store: SimulatedAppStore
    let receipts: Receipts

    /// Answers a call.
    func answer(_ call: Call) async throws(Refusal) -> JSONValue {
        if call.parts.count == 1, call.method == "GET" { return ControlPath.list }
        let path = try ControlPath.of(call)
        try path.check(call)
        var call = call
        call.instant = await store.look()
        switch (path.method, path.name) {
        case ("POST", "purchases"): return try await buy(call)
        case ("POST", "cancellations"):
            return try await change(call) { $0.subscriber.switchAutoRenew($1, on: false, at: $2) }
        case ("POST", "reactivations"):
            return try await change(call) { $0.subscriber.switchAutoRenew($1, on: true, at: $2) }
        case ("POST", "plan-changes"): return try await changePlan(call)
        case ("POST", "billing"): return try await billing(call)
        case ("POST", "refunds"): return try await refund(call)
        case ("POST", "refund-reversals"):
            return try await dispute(call, ofRefunded: true) { $0.subscriber.reverseRefund(of: $1, at: $2) }
        case ("POST", "refund-declines"): return try await dispute(call) { $0.subscriber.declineRefund(of: $1, at: $2) }
        case ("POST", "consumption-requests"):
            let reason = try call.object().string("reason") ?? "UNINTENDED_PURCHASE"
            return try await dispute(call) { $0.subscriber.requestRefund(of: $1, reason: reason, at: $2) }
        case ("POST", "family"): return try await share(call)
        case ("POST", "finish"): return try await finish(call)
        case ("POST", "clock"): return try await clock(call)
        case ("POST", "loss"): return try await loss(call)
        case ("POST", "errors"): return try await provoke(call)
        case ("POST", "faults"): return try await setFaults(call)
        case ("POST", "forgeries"):
            await store.forge(Int(try call.object().integer("count") ?? 1))
            return [:]
        case ("POST", "past"): return try await past(call)
        case ("GET", "products"): return await products()
        case ("GET", "posts"): return await posts(call)
        case ("GET", "customers"): return try await device(call)
        case ("GET", "truth"): return await truth()
        case ("GET", "received"): return .array(await store.received)
        default: throw Refusal(status: 404, "no such path under /stand-in; GET /stand-in lists them")
        }
    }

    func text(_ call: Call, _ name: StaticString) throws(Refusal) -> String {
        guard let text = try call.object().string(name), !text.isEmpty else {
            throw Refusal(status: 400, "\(name) is missing")
        }
        return text
    }

    func place(_ call: Call) throws(Refusal) -> SimulatedApp.Environment {
        guard let name = try call.object().string("environment") else { return call.place }
        guard let place = SimulatedApp.Environment(rawValue: name) else {
            throw Refusal(status: 400, "environment is Production or Sandbox")
        }
        return place
    }

    /// The customer and the line of an original transaction, in either environment.
    private func line(_ call: Call) async throws(Refusal) -> (String, SubscriptionLine.Reference) {
        let id = try text(call, "originalTransactionId")
        for place in SimulatedApp.Environment.allCases {
            if let owner = await store.owner(of: id, place), let line = await store.customers[owner]?.line(id) {
                return (owner, line)
            }
        }
        throw Refusal(
            status: 404, "no subscription of this original transaction; GET /stand-in/truth lists those that there are")
    }

    private func item(_ call: Call) async throws(Refusal) -> (String, SimulatedSubscriber.SoldItem) {
        let id = try text(call, "transactionId")
        for place in SimulatedApp.Environment.allCases {
            if let owner = await store.owner(of: id, place), let item = await store.customers[owner]?.item(id) {
                return (owner, item)
            }
        }
        throw Refusal(
            status: 404, "no such transaction; GET /stand-in/customers/CUSTOMER lists those of a customer")
    }

    private func buy(_ call: Call) async throws(Refusal) -> JSONValue {
        let body = try call.object()
        let id = try text(call, "productId")
        let customer = body.string("customer")
        let speed = if let customer { await store.speed(of: customer) } else { await store.speed }
        guard let product = Catalogue.product(id, speed) else {
            throw Refusal(status: 400, "nothing of this productId is sold; GET /stand-in/products has what is")
        }
        let offer = try body.string("offer").map { name throws(Refusal) in
            guard let offer = Catalogue.offer(name, speed) else {
                throw Refusal(status: 400, "no such offer; there are \(Catalogue.offers.joined(separator: ", "))")
            }
            return offer
        }
        let token = body.string("appAccountToken")
        if let token, UniqueIdentifier(token) == nil {
            throw Refusal(
                status: 400, "appAccountToken is a UUID: the one that GET /v1/account answers with for the account")
        }
        let place = try place(call)
        let buyer = await store.customer(customer, place)
        guard await store.place(of: buyer) == place else {
            throw Refusal(status: 409, "\(buyer) buys in the other environment; name another customer")
        }
        let sold = await store.act(buyer) { customer, now -> SimulatedSubscriber.SoldItem in
            if let token { customer.subscriber.appAccountToken = token }
            guard product.kind == .autoRenewable else { return customer.subscriber.charge(product, at: now) }
            let subscriber = customer.subscriber
            // One line per group: a returning customer continues it, an active subscriber moves to another plan.
            let line = subscriber.allLines.last { subscriber[$0].product.group == product.group }
            if let line, [.expired, .revoked].contains(subscriber[line].phase) {
                customer.subscriber.resubscribe(line, to: product, offer: offer, at: now)
                return customer.subscriber.latest(of: line)
            }
            if let line, subscriber[line].phase == .active, subscriber[line].product.id != product.id {
                customer.subscriber.upgrade(line, to: product, offer: offer, at: now)
                return customer.subscriber.latest(of: line)
            }
            let bought = customer.subscriber.buy(product, offer: offer, at: now)
            return customer.subscriber.latest(of: bought)
        }
        guard let sold else { throw Refusal(status: 500, "the customer is gone") }
        return try await purchase(buyer, sold, call)
    }

    private func purchase(
        _ id: String, _ item: SimulatedSubscriber.SoldItem, _ call: Call
    ) async throws(Refusal) -> JSONValue {
        guard let customer = await store.customers[id] else { throw Refusal(status: 404, "no such customer") }
        let record = customer.subscriber[item]
        var renewal: String?
        if case .period(let line, _) = item {
            renewal = await store.signed(customer.subscriber[line].renewal, at: call.instant)
        }
        return .members([
            "customer": .string(id), "transactionId": .string(record.transactionId),
            "originalTransactionId": .string(record.originalTransactionId),
            "orderId": .string("M\(record.transactionId)"), "environment": .string(record.environment),
            "signedTransactionInfo": .string(await store.signed(record, at: call.instant)),
            "signedRenewalInfo": renewal.map(JSONValue.string),
            "receiptData": .string(await receipts.receipt(of: id, store)),
        ])
    }

    /// Something done to a subscription that is not over.
    private func change(
        _ call: Call, _ act: @Sendable (inout Customer, SubscriptionLine.Reference, Milliseconds) -> Void
    ) async throws(Refusal) -> JSONValue {
        let (customer, line) = try await line(call)
        guard let phase = await store.customers[customer]?.subscriber[line].phase,
            ![.expired, .revoked].contains(phase)
        else { throw Refusal(status: 409, "the subscription is over; buy it again") }
        await store.act(customer) { act(&$0, line, $1) }
        return try await standing(customer, line)
    }

    /// Something about the money of a transaction that was refunded, or was not.
    private func dispute(
        _ call: Call, ofRefunded isOfRefunded: Bool = false,
        _ act: @Sendable (inout Customer, SimulatedSubscriber.SoldItem, Milliseconds) -> Void
    ) async throws(Refusal) -> JSONValue {
        let (customer, item) = try await item(call)
        guard (await store.customers[customer]?.subscriber[item].revocationDate != nil) == isOfRefunded else {
            throw Refusal(status: 409, isOfRefunded ? "it is not refunded" : "it is refunded already")
        }
        await store.act(customer) { act(&$0, item, $1) }
        return try await purchase(customer, item, call)
    }

    private func changePlan(_ call: Call) async throws(Refusal) -> JSONValue {
        let id = try text(call, "productId")
        let (owner, reference) = try await line(call)
        guard let product = Catalogue.product(id, await store.speed(of: owner)), product.kind == .autoRenewable else {
            throw Refusal(
                status: 400, "no subscription of this productId is sold; GET /stand-in/products has those that are")
        }
        guard await store.customers[owner]?.subscriber[reference].product.group == product.group else {
            throw Refusal(status: 409, "it is a plan of another subscription group; buy it")
        }
        // A higher rank at once, the same or a lower one at the next renewal.
        return try await change(call) { customer, line, now in
            let present = customer.subscriber[line].product
            if product.level < present.level {
                customer.subscriber.upgrade(line, to: product, at: now)
            } else {
                customer.subscriber.downgrade(line, to: product, at: now)
            }
        }
    }

    private func billing(_ call: Call) async throws(Refusal) -> JSONValue {
        guard let fails = try call.object().bool("fails") else { throw Refusal(status: 400, "fails is true or false") }
        return try await change(call) { customer, line, _ in
            if fails { customer.life.failing.insert(line) } else { customer.life.failing.remove(line) }
        }
    }

    private func refund(_ call: Call) async throws(Refusal) -> JSONValue {
        let percentage = try call.object().integer("percentage")
        guard percentage.map({ (1...100).contains($0) }) != false else {
            throw Refusal(status: 400, "percentage goes from 1 to 100")
        }
        let form = percentage.map { $0 == 100 ? SimulatedSubscriber.RefundForm.full : .prorated($0) } ?? .full
        return try await dispute(call) { customer, item, now in
            customer.subscriber.refund(item, form: form, at: now)
        }
    }

    /// Another customer has it too, as a member of the family.
    private func share(_ call: Call) async throws(Refusal) -> JSONValue {
        let (owner, line) = try await line(call)
        guard let customer = await store.customers[owner] else { throw Refusal(status: 404, "no such customer") }
        guard customer.subscriber[customer.subscriber.latest(of: line)].inAppOwnershipType == "PURCHASED" else {
            throw Refusal(status: 409, "it is shared by somebody else, who alone can share it")
        }
        let product = customer.subscriber[line].product
        let member = await store.customer(nil, await store.place(of: owner))
        let item = await store.act(member) { member, now -> SimulatedSubscriber.SoldItem in
            let shared = member.subscriber.buy(product, ownership: .familyShared, at: now)
            return member.subscriber.latest(of: shared)
        }
        guard let item else { throw Refusal(status: 500, "the customer is gone") }
        return try await purchase(member, item, call)
    }

    /// Each purchase's status now, by the store itself.
    private func truth() async -> JSONValue {
        let now = await store.now
        var lines: [JSONValue] = []
        for customer in await store.customers.values.sorted(by: { $0.id < $1.id }) {
            for line in customer.subscriber.allLines {
                lines.append(Self.standing(customer, line, now, await store.place(of: customer.id)))
            }
            for item in customer.subscriber.allItems {
                let record = customer.subscriber[item]
                guard record.subscriptionGroupIdentifier == nil else { continue }
                lines.append(
                    .members([
                        "customer": .string(customer.id), "environment": .string(record.environment),
                        "originalTransactionId": .string(record.originalTransactionId),
                        "productId": .string(record.productId), "owned": .bool(record.revocationDate == nil),
                    ]))
            }
        }
        return .array(lines)
    }

    private func standing(_ id: String, _ line: SubscriptionLine.Reference) async throws(Refusal) -> JSONValue {
        guard let customer = await store.customers[id] else { throw Refusal(status: 404, "no such customer") }
        return Self.standing(customer, line, await store.now, await store.place(of: id))
    }

    private static func standing(
        _ customer: Customer, _ reference: SubscriptionLine.Reference, _ now: Milliseconds,
        _ place: SimulatedApp.Environment
    ) -> JSONValue {
        let line = customer.subscriber[reference]
        return .members([
            "customer": .string(customer.id), "environment": .string(place.rawValue),
            "originalTransactionId": .string(line.originalTransactionId),
            "transactionId": line.transactions.last.map { JSONValue.string($0.transactionId) },
            "productId": .string(line.product.id),
            "status": .integer(Int64(customer.subscriber.appleStatus(of: reference, at: now))),
            "expiresDate": .integer(line.expiresDate), "autoRenew": .bool(line.renewal.autoRenewStatus == 1),
        ])
    }
}
