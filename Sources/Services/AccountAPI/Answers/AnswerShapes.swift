import Accounts

/// In which shapes the paths about subscriptions and use answer: the same handlers serve each dialect.
struct AnswerShapes: Sendable {
    /// How an account stands.
    var status: AccountShape<AccountView>
    /// What verifying answers.
    var verify: AccountShape<VerifyAnswer>
    /// What restoring answers.
    var restore: AccountShape<RestoreAnswer>
    /// How the app's own trial stands.
    var trial: AccountShape<AccountView>
    /// What is counted.
    var usage: AccountShape<(tier: String, features: [FeatureView])>

    /// Those of `/v1`.
    static let own = AnswerShapes(
        status: AccountShapes.status, verify: VerifyAnswer.shape, restore: RestoreAnswer.shape,
        trial: AccountShapes.trial,
        usage: FeatureAnswer.usage)
    /// Those of `/subscriptions/…` and `/usage/…`.
    static let readmigo = AnswerShapes(
        status: ReadmigoAnswers.status, verify: ReadmigoAnswers.verify, restore: ReadmigoAnswers.restore,
        trial: ReadmigoAnswers.trial, usage: ReadmigoAnswers.usage)
}
