import AppStorePayloads
import AppStoreVerification
import Base
import Foundation
import TestSupport

@testable import Simulation

/// A shop without its server: at an hour that is set by hand, and with whatever becomes of its posts decided by its test.
struct KeptShop: Sendable {
    let store: SimulatedAppStore
    private let receipts = Receipts(sharedSecret: "secret", bundleId: SimulatedApp.example.bundleId)

    /// Opens one, the one that a file holds if it is named.
    init(
        _ configuration: StandInConfiguration, _ authority: SimulatedAuthority, _ clock: ManualClock,
        keptIn path: String? = nil
    ) async throws {
        store = SimulatedAppStore(
            configuration, authority: authority, stranger: authority, machine: { clock.millisecondsSince1970 })
        if let path { try await store.resume(from: path) }
        await store.open()
        try await store.save()
    }

    /// What a customer does on a device or in the shop, with what came of it; a GET without a body.
    @discardableResult
    func shop(_ path: String, _ body: String? = nil) async -> JSONValue {
        await answer("/stand-in/\(path)", body) { call throws(Refusal) in
            try await ControlAPI(store: store, receipts: receipts).answer(call)
        }
    }

    /// What an app's server asks; a GET without a body.
    func ask(_ path: String, _ body: String? = nil, method: String = "POST") async -> JSONValue {
        await answer("/inApps/\(path)", body, method) { call throws(Refusal) in
            let answer = try await ServerAPI(store: store).answer(call)
            return answer.value ?? .integer(Int64(answer.status))
        }
    }

    func verify(_ receipt: String) async -> JSONValue {
        let body = #"{"receipt-data":"\#(receipt)","password":"secret"}"#
        return await answer("/verifyReceipt", body) { call throws(Refusal) in try await receipts.answer(call, store) }
    }

    private func answer(
        _ target: String, _ body: String?, _ method: String = "POST",
        _ ask: (Call) async throws(Refusal) -> JSONValue
    ) async -> JSONValue {
        let call = Call(
            method: body == nil ? "GET" : method, target: target, authority: nil, authorization: nil,
            body: Array((body ?? "").utf8))
        do throws(Refusal) {
            return Self.read(try await ask(call))
        } catch {
            return .string("\(error.status) \(error.code ?? 0) \(error.message)")
        }
    }

    /// Lives until now, and posts what is due: most arrive, some do not.
    func live() async throws {
        await store.live()
        while true {
            let posts = try await store.takePosts(16)
            guard !posts.isEmpty else { return }
            for post in posts {
                let attempts = await store.posts[post.index].attempts.count
                let arrives = (post.index &* 31 &+ attempts) % 5 != 0
                await store.posted(post.index, arrives ? "SUCCESS" : "TIMED_OUT")
            }
        }
    }

    /// Each subscription as the store itself has it.
    func truth() async -> [[String: JSONValue]] {
        guard case .array(let list) = await shop("truth") else { return [] }
        return list.map(\.dictionary)
    }

    /// Every answer that this shop can give, as text: what is signed is shown as what is signed, for signatures are chance.
    func everything() async -> String {
        var answers: [String: JSONValue] = ["truth": await shop("truth"), "received": await shop("received")]
        for customer in await store.customers.keys {
            let device = await shop("customers/\(customer)")
            answers["device \(customer)"] = device
            if case .string(let receipt) = device["receiptData"] {
                answers["receipt \(customer)"] = await verify(receipt)
            }
        }
        let now = await store.now
        for place in ["Sandbox", "Production"] {
            for line in await truth() {
                guard case .string(let id) = line["originalTransactionId"] else { continue }
                answers["\(place) \(id)"] = await ask("v1/subscriptions/\(id)?environment=\(place)")
                answers["\(place) \(id) history"] = await ask("v2/history/\(id)?environment=\(place)")
                answers["\(place) \(id) refunds"] = await ask("v2/refund/lookup/\(id)?environment=\(place)")
            }
            var token: String?
            repeat {
                let page = await ask(
                    "v1/notifications/history?environment=\(place)" + (token.map { "&paginationToken=\($0)" } ?? ""),
                    "{\"startDate\":\(now - 2_000_000_000),\"endDate\":\(now + 86_400_000)}")
                answers["\(place) notifications \(token ?? "")"] = page
                token = nil
                if case .string(let next) = page["paginationToken"] { token = next }
            } while token != nil
        }
        for token in await store.tests.keys { answers["test \(token)"] = await ask("v1/notifications/test/\(token)") }
        return JSONValue.members(answers).text.replacing("\",\"", with: "\",\n\"")
    }

    /// What was signed in the place of its signed text.
    private static func read(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let values): return .array(values.map(read))
        case .object(let members): return .object(members.map { .init($0.name, read($0.value)) })
        case .string(let text):
            if text.hasPrefix("MI"), let receipt = (try? Receipt(Array(text.utf8)))?.contents {
                return .string("\(receipt.transactionIds) \(receipt.creationDate.map { "\($0)" } ?? "")")
            }
            let parts = text.split(separator: ".")
            guard text.hasPrefix("eyJ"), parts.count == 3, let payload = Base64.url.decode(Array(parts[1].utf8)),
                let document = try? JSONDocument(payload)
            else { return value }
            return Self.read(JSONValue(document.root))
        default: return value
        }
    }
}

extension JSONValue {
    /// Its members by their names.
    var dictionary: [String: JSONValue] {
        guard case .object(let members) = self else { return [:] }
        return Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value) })
    }
}
