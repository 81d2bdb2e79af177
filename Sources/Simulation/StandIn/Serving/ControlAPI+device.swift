import AppStorePayloads
import Base

/// What an app sees and does on a customer's device.
extension ControlAPI {
    /// What the answer about a device may leave out, for everything in it is signed anew.
    private static let parts: Set<String> = [
        "signedTransactions", "signedRenewals", "currentEntitlements", "unfinished", "signedAppTransactionInfo",
        "receiptData",
    ]

    /// What this customer's device would hold; with `?only=` these parts of it alone.
    func device(_ call: Call) async throws(Refusal) -> JSONValue {
        guard call.parts.count == 3 else {
            let names = await store.customers.keys.sorted()
            let known = names.isEmpty ? "none so far, a purchase makes one" : names.prefix(20).joined(separator: ", ")
            throw Refusal(
                status: 404,
                "name one customer: GET /stand-in/customers/CUSTOMER; there are \(known)\(names.count > 20 ? ", …" : "")"
            )
        }
        let customer = try await known(call.parts[2])
        let only = Set(call.values("only").flatMap { $0.split(separator: ",").map(String.init) })
        guard only.isSubset(of: Self.parts) else {
            throw Refusal(status: 400, "only is one or more of \(Self.parts.sorted().joined(separator: ","))")
        }
        var members: [String: JSONValue?] = [
            "customer": .string(customer.id), "appTransactionId": .string(customer.subscriber.appTransactionId),
            "appAccountToken": customer.subscriber.appAccountToken.map(JSONValue.string),
            "environment": .string(await store.place(of: customer.id).rawValue),
        ]
        for part in only.isEmpty ? Self.parts : only { members[part] = try await self.part(part, customer, call) }
        return .members(members)
    }

    private func part(_ name: String, _ customer: Customer, _ call: Call) async throws(Refusal) -> JSONValue {
        switch name {
        case "currentEntitlements":
            return .array(await held(await store.entitlements(of: customer, at: await store.now), customer, call))
        case "unfinished": return .array(await held(await store.unfinished(of: customer), customer, call))
        case "signedAppTransactionInfo":
            let download = customer.subscriber.appTransaction(at: await store.now, firstDownloadAt: customer.joined)
            return .string(await store.sign(download.json))
        case "receiptData": return .string(await receipts.receipt(of: customer.id, store))
        case "signedRenewals":
            var renewals: [String] = []
            for line in customer.subscriber.allLines {
                renewals.append(await store.signed(customer.subscriber[line].renewal, at: call.instant))
            }
            return .texts(renewals)
        default:
            var transactions: [String] = []
            for item in customer.subscriber.allItems {
                transactions.append(await store.signed(customer.subscriber[item], at: call.instant))
            }
            return .texts(transactions)
        }
    }

    /// `{customer, transactionId}`: the app has delivered it, and is not handed it again.
    func finish(_ call: Call) async throws(Refusal) -> JSONValue {
        let (name, id) = (try text(call, "customer"), try text(call, "transactionId"))
        let customer = try await known(name)
        guard let item = customer.item(id) else {
            throw Refusal(status: 404, "\(name) has no transaction \(id); GET /stand-in/customers/\(name) lists them")
        }
        await store.finish(customer.subscriber[item])
        return .members([
            "customer": .string(name), "transactionId": .string(id),
            "unfinished": .integer(Int64(await store.unfinished(of: customer).count)),
        ])
    }

    private func known(_ name: String) async throws(Refusal) -> Customer {
        guard let customer = await store.customers[name] else {
            throw Refusal(
                status: 404,
                "no such customer; GET /stand-in/customers names those that there are, and a purchase makes one")
        }
        return customer
    }

    /// Each item as the device gets it; a period of a subscription with the subscription's renewal info.
    private func held(
        _ items: [SimulatedSubscriber.SoldItem], _ customer: Customer, _ call: Call
    ) async -> [JSONValue] {
        var list: [JSONValue] = []
        for item in items {
            var renewal: String?
            if case .period(let line, _) = item {
                renewal = await store.signed(customer.subscriber[line].renewal, at: call.instant)
            }
            list.append(
                .members([
                    "signedTransactionInfo": .string(await store.signed(customer.subscriber[item], at: call.instant)),
                    "signedRenewalInfo": renewal.map(JSONValue.string),
                ]))
        }
        return list
    }
}
