import APIKit
import AccountStore
import AppStoreServerAPI
import AppStoreVerification
import Base
import Events
import HTTPTypes
import Logging
import Pipeline

extension AccountHandlers {
    /// Asks Apple about the account's purchases and applies what it says at once, so that what is read next shows it. Nothing is open
    /// in the database while Apple is waited for.
    /// - Throws: ``APIProblem``, 503, where Apple does not answer all of it; what it did answer is applied all the same, and a worker
    ///   asks for the rest.
    func refresh(_ caller: Caller) async throws {
        guard let refresh else { throw Self.nobodyToAsk }
        let deadline = ContinuousClock.now + Self.patience
        let (report, news) = try await refresh.gather(caller.token, until: deadline) {
            try await accounts.owned($0, by: caller.token)
        }
        let (answers, _) = try await APIProblem.withinBudget {
            try await intake.take(
                news.compactMap { HandedIn($0) }, until: deadline, cause: .refresh, paidBy: caller.token)
        }
        if let trouble = report.trouble { throw Self.away(trouble) }
        // What cannot be judged now is not applied: the account as it was would be a wrong answer.
        if answers.contains(where: \.isUndecided) { throw Self.away("an answer cannot be judged at the moment") }
    }

    /// Refuses an account that asks too often for what costs something.
    func limit(_ limit: RateLimit<String>, _ caller: Caller, _ why: ProblemText) throws(APIProblem) {
        guard let rest = limit.refusal(of: caller.token.description) else { return }
        throw APIProblem(.rateLimited, why, headers: [.retryAfter: "\(max(1, rest.components.seconds + 1))"])
    }

    /// There is neither a key nor a shared secret.
    static var nobodyToAsk: APIProblem {
        APIProblem(
            .noRefresh,
            ProblemText(
                "no key for Apple's Server API is set: STOREHOOK_APPLE_KEYS", "未配置 Apple Server API 的密钥，无法向 Apple 查询",
                "未設定 Apple Server API 的金鑰，無法向 Apple 查詢"))
    }

    /// Apple is needed, and gives no answer now.
    static func away(_ trouble: String?) -> APIProblem {
        APIProblem(
            .appleAway,
            ProblemText(
                "Apple has no answer at the moment; hand in the same again", "Apple 暂时没有应答，请稍后重新提交",
                "Apple 暫時沒有回應，請稍後重新提交"), headers: [.retryAfter: "30"],
            log: trouble.map { ["trouble": "\($0)"] } ?? [:])
    }

    /// The problem to answer for an error of examining a receipt, or of asking Apple about it.
    static func problem(asking error: any Error) -> any Error {
        switch error {
        case let refusal as ReceiptRefusal:
            return APIProblem(
                .verification(refusal.code), ProblemText(refusal.message, of: refusal.code),
                headers: refusal.isTransient ? [.retryAfter: "30"] : [:],
                log: ["result": "\(refusal.code.rawValue)"])
        case let failure as AppStoreFailure:
            switch failure.reason {
            // `malformed` may also mean an error of Apple's, Apple says: not for a receipt read here and asked about
            // twice.
            case .receipt(let status, let mayPass) where !mayPass || status == .malformed:
                return APIProblem(
                    .receipt(status), ProblemText(failure.message, of: status), log: ["result": "\(failure.code)"])
            case .refused(let refusal) where !refusal.code.isTransient:
                return APIProblem(
                    .verification(refusal.code), ProblemText(refusal.message, of: refusal.code),
                    log: ["result": "\(refusal.code.rawValue)"])
            default: return away("\(failure)")
            }
        case let trouble as UnusableAnswer: return away(trouble.rawValue)
        default: return error
        }
    }
}
