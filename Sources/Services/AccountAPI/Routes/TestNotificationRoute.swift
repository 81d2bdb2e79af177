import APIKit
import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
package import AppleRecords
package import Base
import Foundation
import HTTPKit
import HTTPTypes
import Logging
package import Pipeline
import Postgres
import Synchronization

/// `POST /webhooks/apple/test`: has Apple post a test notification, waits, and answers how its way through storehook
/// went.
package struct TestNotificationRoute: Sendable {
    private final class Turn: Sendable {
        let isTaken = Atomic(false)
    }

    private let clients: AppleClients?
    private let canaries: Canaries
    private let patience: TestNotificationTrial.Patience
    private let now: @Sendable () -> Timestamp
    private let turn = Turn()

    /// What it takes.
    /// - Parameters:
    ///   - clients: ask Apple; nil where no key is set.
    ///   - patience: how long it waits.
    ///   - now: this machine's clock.
    package init(
        _ clients: AppleClients?, _ canaries: Canaries, patience: TestNotificationTrial.Patience = .init(),
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.clients = clients
        self.canaries = canaries
        self.patience = patience
        self.now = now
    }

    private static let noKey = ProblemCode(.serviceUnavailable, "no_apple_key", "Apple cannot be asked")
    private static let appleRefused = ProblemCode(.badGateway, "apple_refused", "Apple refuses")
    private static let notArrived = ProblemCode(.gatewayTimeout, "not_arrived", "It did not come through in time")

    /// The endpoint.
    package var endpoint: AccountEndpoint {
        var endpoint = AccountEndpoint(
            .post, "/webhooks/apple/test", "testNotifications",
            "Have Apple post a test notification, wait up to 40 seconds, and tell how its way through storehook went.",
            for: .server,
            successes: [.init("It came through, and was applied.", .named("TestNotification", Self.schema))]
        ) { try await answer($0) }
        endpoint.body = .init(
            .named(
                "TestNotificationRequest",
                .object([
                    .optional("app", .string(.init(1, 255)), "The bundle id, where keys of several apps are set."),
                    .optional(
                        "environment", .named("TestNotificationEnvironment", .choice(["Production", "Sandbox"])),
                        "Unless told Production, where that is served."),
                ])), isOptional: true, most: 4096)
        endpoint.style = .problem(
            "TestNotificationProblem",
            adding: [
                .optional("appleCode", .text, "Of apple_refused: Apple's error code."),
                .optional("notificationUUID", .string(format: "uuid"), "Of not_arrived: what Apple calls it."),
                .optional("askedAt", .time, "Of not_arrived."), .optional("postedAt", .time, "Of not_arrived."),
                .optional("postResult", .text, "Of not_arrived: what Apple says of its post."),
            ])
        endpoint.refusesFitting = "the operator says which apps and environments there are keys of"
        endpoint.problems = [.invalidRequest, Self.noKey, Self.appleRefused, Self.notArrived, .unavailable]
        endpoint.isLogged = true
        return endpoint
    }

    private static let schema = ValueSchema.object([
        .required("app", .text, "The app's bundle id."), .required("environment", Environment.schema),
        .required("notificationUUID", .string(format: "uuid")),
        .required("askedAt", .time, "When Apple was asked, by this machine's clock."),
        .required("postedAt", .nullable(.time), "When Apple first posted it, by Apple's clock."),
        .required("postResult", .nullable(.text), "What Apple says of that: SUCCESS, or why not."),
        .required(
            "outcome", .named("TestNotificationOutcome", .choice(["applied", "recovered", "dead"])),
            "recovered: it was lost on its way, and fetched from Apple's history. dead: it is a dead letter."),
        .required("storedAt", .nullable(.time), "When its bytes were stored, by the database's clock."),
        .required("appliedAt", .nullable(.time), "When it was applied, by the database's clock."),
        .required("tookMilliseconds", .nullable(.integer()), "From asking until it was applied."),
    ])

    private func answer(_ request: AccountRequest) async throws -> APIAnswer {
        guard let clients, !clients.scopes.isEmpty else {
            throw APIProblem(Self.noKey, AccountHandlers.nobodyToAsk.detail)
        }
        let scope = try Self.scope(request, clients)
        guard let client = clients.client(of: scope) else {
            throw APIProblem(.invalidRequest, Self.noKeyOfApp)
        }
        // One test at a time: Apple allows few of them, and a notification must belong to one request only.
        guard turn.isTaken.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else {
            throw APIProblem(
                .rateLimited, ProblemText("a test is under way already", "已有一项测试正在进行", "已有一項測試正在進行"),
                headers: [.retryAfter: "10"])
        }
        defer { turn.isTaken.store(false, ordering: .releasing) }
        let way: TestNotificationTrial.Way
        do {
            way = try await TestNotificationTrial(client, canaries, patience: patience, now: now)
                .run(in: Environment(rawValue: scope.environment))
        } catch let failure as AppStoreFailure {
            guard failure.isTransient else {
                let verdict = ConnectionVerdict(
                    failure, clockAhead: failure.answeredAt.map { TestNotificationTrial.difference(now(), $0) })
                throw APIProblem(
                    Self.appleRefused,
                    ProblemText(verdict.sentence, generally: ProblemText("", "Apple 拒绝了此请求", "Apple 拒絕了此請求")),
                    members: [
                        .init("appleCode", .string(failure.code)), .init("brokenLink", .text(verdict.link?.rawValue)),
                    ])
            }
            throw APIProblem.unavailable(
                ProblemText("Apple does not answer at the moment", "Apple 暂时没有应答", "Apple 暫時沒有回應"), retryAfter: 30)
        }
        guard let arrival = way.arrival else {
            throw APIProblem(
                Self.notArrived, Self.whyNot(way, ConnectionVerdict(way)),
                members: [
                    .init("brokenLink", .text(ConnectionVerdict(way).link?.rawValue)),
                    .init("notificationUUID", .text(way.notificationUUID?.uuidString.lowercased())),
                    .init("askedAt", .time(way.askedAt)), .init("postedAt", .time(way.postedAt)),
                    .init("postResult", .text(Self.result(way))),
                ])
        }
        return APIAnswer(.ok, Self.value(way, arrival, scope), log: ["outcome": "\(arrival.place.rawValue)"])
    }

    /// The app and environment that a test notification is requested for.
    private static func scope(_ request: AccountRequest, _ clients: AppleClients) throws(APIProblem) -> AppEnvironment {
        let apps = Set(clients.scopes.map(\.bundleID))
        let app: String
        if let named = request.body?.string("app") {
            guard apps.contains(named) else { throw APIProblem(.invalidRequest, Self.noKeyOfApp) }
            app = named
        } else {
            guard let only = apps.first, apps.count == 1 else {
                throw APIProblem(
                    .invalidRequest,
                    ProblemText(
                        "keys of several apps are set; say which with app", "已配置多个应用的密钥；请用 app 指明",
                        "已設定多個 App 的金鑰；請用 app 指明"))
            }
            app = only
        }
        let places = clients.scopes.filter { $0.bundleID == app }
        // Production comes first.
        let place = request.body?.string("environment").map { name in places.first { $0.environment == name } }
        guard let scope = place ?? places.first else {
            throw APIProblem(
                .invalidRequest, ProblemText("this environment is not served", "不支持此环境", "不支援此環境"))
        }
        return scope
    }

    private static var noKeyOfApp: ProblemText {
        ProblemText("no key of this app is set", "未配置此应用的密钥", "未設定此 App 的金鑰")
    }

    private static func whyNot(_ way: TestNotificationTrial.Way, _ verdict: ConnectionVerdict) -> ProblemText {
        ProblemText(verdict.sentence, generally: general(way))
    }

    private static func general(_ way: TestNotificationTrial.Way) -> ProblemText {
        if way.notificationUUID == nil { return ProblemText("", "Apple 尚未发送；请稍后再查", "Apple 尚未傳送；請稍後再查") }
        guard way.result == .success else {
            return ProblemText(
                "", "Apple 无法送达；请检查 App Store Connect 中的 URL，以及接收端前面的设施",
                "Apple 無法送達；請檢查 App Store Connect 中的 URL，以及接收端前面的設施")
        }
        return ProblemText(
            "", "Apple 已发送，但尚未处理：请用 storehook queue 检查处理进程是否在运行",
            "Apple 已傳送，但尚未處理：請用 storehook queue 檢查處理程序是否在執行")
    }

    private static func result(_ way: TestNotificationTrial.Way) -> String? { way.result?.rawValue }

    private static func value(
        _ way: TestNotificationTrial.Way, _ arrival: CanaryArrival, _ scope: AppEnvironment
    ) -> JSONValue {
        func instant(_ timestamp: PostgresTimestamp?) -> Timestamp? {
            timestamp.map { Timestamp(millisecondsSince1970: $0.millisecondsSince1970) }
        }
        let applied = instant(arrival.appliedAt)
        var took: JSONValue = .null
        // Of two clocks, which may differ: a way has no negative length.
        if let asked = way.askedAt, let applied { took = .integer(max(0, applied.milliseconds(since: asked))) }
        return [
            "app": .string(scope.bundleID), "environment": .string(scope.environment),
            "notificationUUID": .text(way.notificationUUID?.uuidString.lowercased()), "askedAt": .time(way.askedAt),
            "postedAt": .time(way.postedAt), "postResult": .text(result(way)),
            "outcome": .string(arrival.place.rawValue), "storedAt": .time(instant(arrival.storedAt)),
            "appliedAt": .time(applied), "tookMilliseconds": took,
        ]
    }
}
