import APIKit
import AccountStore
import Accounts
import AppStorePayloads
import Base
import HTTPTypes
import Logging

extension AccountHandlers {
    /// All features of the account, with what it has used of those that are counted.
    private func features(_ account: ReadAccount, _ caller: Caller) async throws -> [FeatureView] {
        let (catalog, tier) = (account.reader.catalog, account.view.current.tier)
        let counts = try await usage.current(catalog.counted(in: tier), of: caller.token, in: catalog.timeZone)
        let byID = Dictionary(counts.map { ($0.feature, $0) }) { first, _ in first }
        return catalog.features.map { feature in
            FeatureView(feature, in: tier, used: byID[feature.id]?.used ?? 0, window: byID[feature.id]?.window)
        }
    }

    func features(
        _ request: AccountRequest, _ shape: AccountShape<(tier: String, features: [FeatureView])>
    ) async throws -> APIAnswer {
        let caller = try request.requireCaller()
        let account = try await readAccount(request)
        let features = try await features(account, caller)
        return APIAnswer(.ok, shape.value(of: (account.view.current.tier, features), for: account.reader))
    }

    func feature(_ request: AccountRequest) async throws -> APIAnswer {
        let caller = try request.requireCaller()
        let account = try await readAccount(request)
        let feature = try Self.feature(request.path["feature"], in: account.reader.catalog)
        let counted = account.reader.catalog.counting(of: feature, in: account.view.current.tier)
        let counts = try await usage.current(
            counted.map { [$0] } ?? [], of: caller.token, in: account.reader.catalog.timeZone)
        let view = FeatureView(
            feature, in: account.view.current.tier, used: counts.first?.used ?? 0, window: counts.first?.window)
        return APIAnswer(.ok, FeatureAnswer.shape.value(of: view, for: account.reader))
    }

    /// Counts use, or refuses and counts nothing.
    /// - Parameter name: the feature, where the path does not say.
    func count(_ request: AccountRequest, of name: String? = nil) async throws -> APIAnswer {
        let caller = try request.requireCaller()
        let account = try await readAccount(request)
        let catalog = account.reader.catalog
        let feature = try Self.feature(name ?? request.path["feature"], in: catalog)
        let report = try Self.report(request)
        guard let counted = catalog.counting(of: feature, in: account.view.current.tier) else {
            let view = FeatureView(feature, in: account.view.current.tier)
            guard view.restriction == nil else {
                noteRefusal(of: view, account, "tier_required", caller)
                throw APIProblem(
                    .tierRequired,
                    ProblemText("the account's tier does not have this feature", "当前套餐不包含此功能", "目前方案不包含此功能"),
                    members: UsageAnswer.members(of: view, for: account.reader))
            }
            throw APIProblem(
                .notCounted,
                ProblemText("this feature is not counted: a tier has it or has it not", "此功能不计次数", "此功能不計次數"))
        }
        switch try await usage.count(report, of: counted, for: caller.token, in: catalog.timeZone) {
        case .counted(let count):
            return Self.answer(report, isNew: true, feature, count, account)
        case .repeated(let count):
            return Self.answer(report, isNew: false, feature, count, account)
        case .limitReached(let count):
            let view = FeatureView(feature, in: account.view.current.tier, used: count.used, window: count.window)
            noteRefusal(of: view, account, "limit_reached", caller)
            throw APIProblem(
                .limitReached,
                ProblemText(
                    "what the account's tier gives of this feature is used up", "已达到当前套餐的使用上限", "已達到目前方案的使用上限"),
                members: UsageAnswer.members(of: view, for: account.reader), headers: Self.retry(count, account),
                log: ["feature": "\(feature.id)", "used": "\(count.used)"])
        case .exhausted(let exhausted): throw APIProblem(exhausted)
        case .full(let count):
            let view = FeatureView(feature, in: account.view.current.tier, used: count.used, window: count.window)
            noteRefusal(of: view, account, "limit_reached", caller)
            throw APIProblem(
                .limitReached,
                ProblemText(
                    "no counter goes beyond \(Usage.most)", "计数不能超过 \(Usage.most)", "計數不能超過 \(Usage.most)"),
                members: UsageAnswer.members(of: view, for: account.reader), headers: Self.retry(count, account),
                log: ["feature": "\(feature.id)", "used": "\(count.used)"])
        case .keyReused:
            throw APIProblem(
                .keyReused,
                ProblemText(
                    "another report was sent with this key", "此 idempotencyKey 已用于另一次上报", "此 idempotencyKey 已用於另一次回報"))
        case .tooOld: throw Self.misdated("usedAt is more than 35 days ago", "usedAt 早于 35 天前", "usedAt 早於 35 天前")
        case .inTheFuture: throw Self.misdated("usedAt is in the future", "usedAt 在将来", "usedAt 在未來")
        case .noStock:
            throw APIProblem(
                .invalidRequest,
                ProblemText(
                    "only what is counted in total is released or set", "只有累计的功能才能归还或设定用量", "只有累計的功能才能歸還或設定用量"))
        }
    }

    private static func misdated(_ english: String, _ simplified: String, _ traditional: String) -> APIProblem {
        APIProblem(.invalidRequest, ProblemText(english, simplified, traditional))
    }

    private func noteRefusal(of view: FeatureView, _ account: ReadAccount, _ reason: String, _ caller: Caller) {
        var metadata: Logger.Metadata = [
            "feature": "\(view.feature.id)", "reason": "\(reason)", "tier": "\(view.tier)",
            "used": "\(view.used)",
        ]
        metadata["limit"] = view.most.map { "\($0)" }
        metadata["ends"] = account.view.current.expiresAt.map { "\($0)" }
        log.note("Refused use", of: caller, metadata)
    }

    private static func answer(
        _ report: UsageReport, isNew: Bool, _ feature: Catalog.Feature, _ count: UsageCount, _ account: ReadAccount
    ) -> APIAnswer {
        let amount: Int64 =
            switch report.act {
            case .add(let amount), .set(let amount): amount
            case .release(let amount): -amount
            }
        let view = FeatureView(feature, in: account.view.current.tier, used: count.used, window: count.window)
        return APIAnswer(
            .ok, UsageAnswer.shape.value(of: UsageAnswer(amount, isNew: isNew, view), for: account.reader))
    }

    private static func retry(_ count: UsageCount, _ account: ReadAccount) -> HTTPFields {
        guard let resetsAt = count.window.resetsAt else { return [:] }
        let seconds = resetsAt.milliseconds(since: account.view.instant) / 1000 + 1
        return [.retryAfter: "\(max(1, min(seconds, 86_400)))"]
    }

    private static func feature(_ name: String?, in catalog: Catalog) throws(APIProblem) -> Catalog.Feature {
        guard let feature = name.flatMap({ catalog.feature(named: $0) }) else {
            throw APIProblem(
                .unknownFeature, ProblemText("the catalog does not have this feature", "没有此功能", "沒有此功能"))
        }
        return feature
    }

    private static func report(_ request: AccountRequest) throws(APIProblem) -> UsageReport {
        let body = request.body
        let act: UsageReport.Act
        let acts = (body?.integer("amount"), body?.integer("release"), body?.integer("set"))
        switch acts {
        case (let amount, nil, nil): act = .add(amount ?? 1)
        case (nil, let amount?, nil): act = .release(amount)
        case (nil, nil, let amount?): act = .set(amount)
        default:
            throw APIProblem(
                .invalidRequest,
                ProblemText(
                    "amount, release and set exclude each other", "amount、release、set 不能同时出现",
                    "amount、release、set 不能同時出現"))
        }
        var usedAt: Timestamp?
        if let text = body?.string("usedAt") {
            guard let instant = Timestamp(rfc3339: text) else {
                throw misdated(
                    "usedAt must be like 2026-01-02T03:04:05Z, or with another offset from UTC",
                    "usedAt 的格式须如 2026-01-02T03:04:05Z，或带其他时区偏移",
                    "usedAt 的格式須如 2026-01-02T03:04:05Z，或帶其他時區偏移")
            }
            usedAt = instant
        }
        do throws(UsageReport.Fault) {
            return try UsageReport(act, key: body?.string("idempotencyKey"), usedAt: usedAt)
        } catch {
            throw APIProblem(
                .invalidRequest,
                error == .amount
                    ? ProblemText("the amount is out of bounds", "用量超出范围", "用量超出範圍")
                    : ProblemText(
                        "idempotencyKey must be 1 to 255 characters long", "idempotencyKey 的长度须为 1 到 255 个字符",
                        "idempotencyKey 的長度須為 1 到 255 個字元"))
        }
    }
}
