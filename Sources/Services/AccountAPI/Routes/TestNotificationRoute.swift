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
            "Have Apple post a test notification, wait up to 40 seconds, and answer how its way through storehook went.",
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
                        "By default Production, where that is served."),
                ])), isOptional: true, most: 4096)
        endpoint.style = .problem(
            "TestNotificationProblem",
            adding: [
                .optional("appleCode", .text, "Of apple_refused: Apple's error code."),
                .optional("brokenLink", Self.link, "Of apple_refused and not_arrived: \(Self.aboutLink)"),
                .optional("notificationUUID", .string(format: "uuid"), "Of not_arrived: what Apple calls it."),
                .optional("askedAt", .time, "Of not_arrived."), .optional("postedAt", .time, "Of not_arrived."),
                .optional("postResult", .text, "Of not_arrived: what Apple says of its post."),
            ])
        endpoint.refusesFitting = "the operator says which apps and environments there are keys of"
        endpoint.problems = [.invalidRequest, Self.noKey, Self.appleRefused, Self.notArrived, .unavailable]
        endpoint.isLogged = true
        return endpoint
    }

    private static let link = ValueSchema.named("BrokenLink", .choice(ConnectionVerdict.Link.allCases.map(\.rawValue)))
    private static let aboutLink =
        "which link between Apple and what is applied here is broken; null where none is, or where it is not known which."

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
        .required("brokenLink", .nullable(link), "Where it did not come through: \(aboutLink)"),
        .required("detail", .text, "One sentence in English: that the way is whole, or what is wrong and what to do."),
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
                    ProblemText(verdict.sentence, generally: Self.general(verdict.link)),
                    members: [
                        .init("appleCode", .string(failure.code)), .init("brokenLink", .text(verdict.link?.rawValue)),
                    ])
            }
            throw APIProblem.unavailable(
                ProblemText("Apple does not answer at the moment", "Apple 暂时没有应答", "Apple 暫時沒有回應"), retryAfter: 30)
        }
        let verdict = ConnectionVerdict(way)
        guard let arrival = way.arrival else {
            throw APIProblem(
                Self.notArrived, ProblemText(verdict.sentence, generally: Self.general(verdict.link)),
                members: [
                    .init("brokenLink", .text(verdict.link?.rawValue)),
                    .init("notificationUUID", .text(way.notificationUUID?.uuidString.lowercased())),
                    .init("askedAt", .time(way.askedAt)), .init("postedAt", .time(way.postedAt)),
                    .init("postResult", .text(Self.result(way))),
                ])
        }
        return APIAnswer(.ok, Self.value(way, arrival, verdict, scope), log: ["outcome": "\(arrival.place.rawValue)"])
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

    /// What is wrong, by the link alone, in Chinese; nil where it is not known which link is broken.
    static func general(_ link: ConnectionVerdict.Link?) -> ProblemText {
        switch link {
        case .clock:
            ProblemText(
                "", "时钟与 Apple 的时间不一致：请让本机和各处理进程所在的机器用 NTP 校时", "時鐘與 Apple 的時間不一致：請讓本機和各處理程序所在的機器用 NTP 校時")
        case .key:
            ProblemText(
                "", "Apple 不接受此密钥：请检查 issuer_id、key_id 和 .p8 文件", "Apple 不接受此金鑰：請檢查 issuer_id、key_id 和 .p8 檔案")
        case .app:
            ProblemText(
                "", "Apple 或处理进程不认识此应用：请检查 STOREHOOK_APPS", "Apple 或處理程序不認識此 App：請檢查 STOREHOOK_APPS")
        case .environment:
            ProblemText(
                "", "此环境中没有该应用，或处理进程不支持此环境：请检查 STOREHOOK_ENVIRONMENTS",
                "此環境中沒有該 App，或處理程序不支援此環境：請檢查 STOREHOOK_ENVIRONMENTS")
        case .apple:
            ProblemText("", "无法连接 Apple，或 Apple 尚未发送；请稍后再试", "無法連線至 Apple，或 Apple 尚未傳送；請稍後再試")
        case .url:
            ProblemText("", "请检查 App Store Connect 中的 URL", "請檢查 App Store Connect 中的 URL")
        case .tls:
            ProblemText("", "Apple 不接受该 URL 的证书或 TLS 版本", "Apple 不接受該 URL 的憑證或 TLS 版本")
        case .proxy:
            ProblemText("", "接收端前面的设施代替它作了应答：请检查代理", "接收端前面的設施代替它作了回應：請檢查代理")
        case .receiver:
            ProblemText("", "接收端没有及时应答：请检查它是否在运行，防火墙是否放行 Apple", "接收端沒有及時回應：請檢查它是否在執行，防火牆是否放行 Apple")
        case .worker:
            ProblemText(
                "", "已存储但尚未处理：请用 storehook queue 检查处理进程是否在运行", "已儲存但尚未處理：請用 storehook queue 檢查處理程序是否在執行")
        case .roots:
            ProblemText("", "签名者不受信任：请检查 STOREHOOK_TRUSTED_ROOTS", "簽署者不受信任：請檢查 STOREHOOK_TRUSTED_ROOTS")
        case .database:
            ProblemText("", "无法在数据库中查询此通知：请检查数据库及其权限", "無法在資料庫中查詢此通知：請檢查資料庫及其權限")
        case nil:
            ProblemText(
                "", "Apple 已发送，但尚未处理：请用 storehook queue 检查处理进程是否在运行；若队列为空，请检查 App Store Connect 中的 URL",
                "Apple 已傳送，但尚未處理：請用 storehook queue 檢查處理程序是否在執行；若佇列為空，請檢查 App Store Connect 中的 URL")
        }
    }

    private static func result(_ way: TestNotificationTrial.Way) -> String? { way.result?.rawValue }

    private static func value(
        _ way: TestNotificationTrial.Way, _ arrival: CanaryArrival, _ verdict: ConnectionVerdict,
        _ scope: AppEnvironment
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
            "brokenLink": .text(verdict.link?.rawValue), "detail": .string(verdict.sentence),
        ]
    }
}
