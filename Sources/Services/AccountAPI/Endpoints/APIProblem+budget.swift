import APIKit
import AccountStore
import HTTPTypes

extension APIProblem {
    /// What to answer where an account's budget of the day is used up.
    init(_ exhausted: WriteBudget.Exhausted) {
        self.init(
            .writeBudget,
            ProblemText(
                "this account has written as much as it may in a day; what is only read goes on",
                "此账号今日提交的数据过多，请明天再试；查询不受影响",
                "此帳號今日提交的資料過多，請明天再試；查詢不受影響"),
            headers: [.retryAfter: "\(exhausted.retryAfter)"])
    }

    /// Runs what an account pays for.
    /// - Throws: what it throws; ``APIProblem`` where the account's budget is used up.
    static func withinBudget<T>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> T
    ) async throws -> T {
        do {
            return try await body()
        } catch let exhausted as WriteBudget.Exhausted {
            throw APIProblem(exhausted)
        }
    }
}
