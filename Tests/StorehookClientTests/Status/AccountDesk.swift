import Foundation

@testable import StorehookClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A server in this process that answers each path as a test has set it, and keeps what it was asked.
final class AccountDesk: HTTPTransport, @unchecked Sendable {
    // The lock guards both.
    private var answers: [String: (status: Int, body: String)] = [:]
    private var kept: [URLRequest] = []
    private let lock = NSLock()

    /// What it was asked, in order: `POST /v1/subscriptions/verify`.
    var asked: [String] { lock.withLock { kept.map { "\($0.httpMethod ?? "") \($0.url?.path ?? "")" } } }

    /// What a path was sent, in order.
    func requests(_ path: String) -> [URLRequest] { lock.withLock { kept.filter { $0.url?.path == path } } }

    /// Has a path answer.
    func answer(_ path: String, _ members: [String: Any], status: Int = 200) {
        let data = (try? JSONSerialization.data(withJSONObject: members)) ?? Data()
        lock.withLock { answers[path] = (status, String(decoding: data, as: UTF8.self)) }
    }

    /// Has a path refuse.
    func refuse(_ path: String, _ status: Int, _ code: String) {
        answer(path, ["code": code, "title": "t", "detail": "d", "status": status], status: status)
    }

    func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        let answer = lock.withLock {
            kept.append(request)
            return answers[request.url?.path ?? ""]
        }
        guard let url = request.url, let answer,
            let head = HTTPURLResponse(
                url: url, statusCode: answer.status, httpVersion: "HTTP/1.1", headerFields: nil)
        else { throw URLError(.cannotConnectToHost) }
        return (Data(answer.body.utf8), head)
    }
}

extension AccountDesk {
    /// When what the samples have ends.
    static let end = StatusSamples.now + 10 * StatusSamples.day

    static func text(_ date: Date) -> String { date.formatted(.iso8601) }

    /// What `GET /v1/account` answers.
    static func account(_ changes: [String: Any] = [:]) -> [String: Any] {
        let members: [String: Any] = [
            "id": "alice", "appAccountToken": StatusSamples.token.uuidString, "environment": "Production",
            "tier": "pro", "tierName": "Pro", "status": "active", "displayStatus": "有效", "source": "apple",
            "hasAccess": true, "expiresAt": text(end), "version": 7,
        ]
        return members.merging(changes) { $1 }
    }

    /// A purchase as the server shows it.
    static func purchase(_ changes: [String: Any] = [:]) -> [String: Any] {
        let members: [String: Any] = [
            "autoRenewStatus": true, "bundleId": "com.example", "displayStatus": "有效", "environment": "Production",
            "expiresAt": text(end), "hasAccess": true, "id": "yearly", "isFamilyShared": false,
            "isTrialPeriod": false, "originalTransactionId": "1001", "period": "year", "productId": "pro.yearly",
            "purchaseDate": text(StatusSamples.now), "purchaseType": "subscription", "status": "active",
            "tier": "pro", "transactionId": "1001",
        ]
        return members.merging(changes) { $1 }
    }

    /// What `GET /v1/subscriptions/status` answers about an account with a purchase.
    static func status(_ changes: [String: Any] = [:], purchase changed: [String: Any] = [:]) -> [String: Any] {
        let members: [String: Any] = [
            "accessUntil": text(end), "displayStatus": "有效", "environment": "Production", "expiresAt": text(end),
            "expiringSoon": false, "hasActiveSubscription": true, "isActive": true, "period": "year",
            "purchaseDate": text(StatusSamples.now), "purchaseType": "subscription", "source": "apple",
            "status": "active", "subscription": purchase(changed), "subscriptions": [purchase(changed)],
            "tier": "pro", "tierName": "Pro", "transactionId": "1001", "version": 7, "willRenew": true,
        ]
        return members.merging(changes) { $1 }
    }

    /// The status of an account that has nothing.
    static var nothing: [String: Any] {
        status([
            "accessUntil": NSNull(), "displayStatus": "免费", "expiresAt": NSNull(), "hasActiveSubscription": false,
            "isActive": false, "period": "none", "purchaseDate": NSNull(), "purchaseType": "none",
            "source": "none", "status": "free", "subscription": NSNull(), "subscriptions": [] as [Any],
            "tier": "free", "tierName": "Free", "transactionId": NSNull(), "version": 1, "willRenew": false,
        ])
    }

    /// What `POST /v1/subscriptions/verify` answers.
    static var verification: [String: Any] {
        ["account": account(), "subscription": purchase(), "success": true]
    }

    /// A transaction's fate in the answer of `POST /v1/subscriptions/restore`.
    static func restoration(_ result: String) -> [String: Any] {
        let isOwn = result == "restored"
        return (isOwn ? status() : nothing).merging([
            "account": account(), "restored": isOwn ? 1 : 0, "transactions": [["result": result]],
        ]) { $1 }
    }
}
