import Base

/// The App Store Server API, as the stand-in answers it.
struct ServerAPI: Sendable {
    /// An answer of status 2xx; Apple's calls without an answer send nothing at all.
    struct Answer: Sendable {
        var status = 200
        var value: JSONValue?
    }

    let store: SimulatedAppStore

    /// How many records a page has at most.
    static let pageSize = 20

    /// Answers a call; the token was checked.
    func answer(_ call: Call) async throws(Refusal) -> Answer {
        var call = call
        call.instant = await store.look()
        if let refusal = await store.provocation(call.path) { throw refusal }
        let path = call.parts.dropFirst().joined(separator: "/")
        let last = call.parts.last ?? ""
        switch (call.method, call.parts.count) {
        case ("GET", 4) where path.hasPrefix("v2/history/") || path.hasPrefix("v1/history/"):
            return Answer(value: try await history(call, last))
        case ("GET", 4) where path.hasPrefix("v1/transactions/"):
            return Answer(value: try await transaction(call, last))
        case ("GET", 4) where path.hasPrefix("v1/subscriptions/"):
            return Answer(value: try await statuses(call, last))
        case ("GET", 5) where path.hasPrefix("v1/transactions/appTransactions/"):
            return Answer(value: try await appTransaction(call, last))
        case ("POST", 5) where path.hasPrefix("v1/transactions/") && last == "finish":
            return try await finish(call, call.parts[3])
        case ("PUT", 5) where path.hasPrefix("v2/transactions/consumption/"):
            return try await consumption(call, last)
        case ("PUT", 5) where path.hasPrefix("v1/transactions/") && last == "appAccountToken":
            return try await accountToken(call, call.parts[3])
        case ("POST", 4) where path == "v1/notifications/history":
            return Answer(value: try await notifications(call))
        case ("POST", 4) where path == "v1/notifications/test": return Answer(value: try await test(call))
        case ("GET", 5) where path.hasPrefix("v1/notifications/test/"):
            return Answer(value: try await testStatus(call, last))
        case ("PUT", 5) where path.hasPrefix("v1/subscriptions/extend/"):
            return Answer(value: try await extend(call, last))
        case ("POST", 5) where path == "v1/subscriptions/extend/mass":
            return try await extendAll(call)
        case ("GET", 7) where path.hasPrefix("v1/subscriptions/extend/mass/"):
            return Answer(value: try await massStatus(call, call.parts[5], last))
        case ("GET", 4) where path.hasPrefix("v1/lookup/"): return Answer(value: try await order(call, last))
        case ("GET", 5) where path.hasPrefix("v2/refund/lookup/"):
            return Answer(value: try await refunds(call, last))
        default: throw Refusal(status: 404, "Not Found")
        }
    }

    /// Ids are digits.
    func require(_ id: String) throws(Refusal) {
        guard !id.isEmpty, id.count <= 32, id.allSatisfy({ $0.isASCII && $0.isNumber }) else {
            throw .badTransaction
        }
    }

    /// The customer that any id of his names.
    func customer(_ id: String, _ call: Call) async throws(Refusal) -> Customer {
        try require(id)
        guard let owner = await store.owner(of: id, call.place), let customer = await store.customers[owner] else {
            throw .noTransaction
        }
        return customer
    }

    /// The item sold by this transaction, and its customer.
    func sold(_ id: String, _ call: Call) async throws(Refusal) -> (Customer, SimulatedSubscriber.SoldItem) {
        let customer = try await customer(id, call)
        guard let item = customer.item(id) else { throw .noTransaction }
        return (customer, item)
    }

    /// The line of this original transaction.
    func line(_ id: String, _ call: Call) async throws(Refusal) -> (Customer, SubscriptionLine.Reference) {
        try require(id)
        guard let owner = await store.owner(of: id, call.place), let customer = await store.customers[owner],
            let line = customer.line(id)
        else { throw .noOriginal }
        return (customer, line)
    }

    /// A page of transactions, and how to go on.
    func page(_ records: [TransactionRecord], _ call: Call) async throws(Refusal) -> [String: JSONValue?] {
        var start = 0
        if let revision = call.value("revision") {
            guard let number = Revision.read(revision) else {
                throw Refusal(4_000_005, "Invalid request revision.")
            }
            start = min(number, records.count)
        }
        let end = min(records.count, start + Self.pageSize)
        var signed: [String] = []
        for record in records[start..<end] { signed.append(await store.signed(record, at: call.instant)) }
        return [
            "signedTransactions": .texts(signed), "hasMore": .bool(end < records.count),
            "revision": .string(Revision.write(end)),
        ]
    }

    /// Members that several answers begin with.
    func head(_ call: Call) async -> [String: JSONValue?] {
        let app = await store.app(call.place)
        return [
            "environment": .string(call.place.rawValue), "bundleId": .string(app.bundleId),
            "appAppleId": .integer(app.appAppleId),
        ]
    }
}

/// A place in a list, as a text that is opaque to callers.
enum Revision {
    static func write(_ position: Int) -> String { "\(position)_\(position * 7919 % 99991)" }

    static func read(_ text: String) -> Int? {
        let parts = text.split(separator: "_")
        guard parts.count == 2, let position = Int(parts[0]), position >= 0, position < 1 << 40,
            write(position) == text
        else { return nil }
        return position
    }
}
