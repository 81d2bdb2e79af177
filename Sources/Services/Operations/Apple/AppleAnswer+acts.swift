import AppStorePayloads
package import AppStoreServerAPI
package import Base

extension AppleAnswer {
    /// That Apple has taken something that has no answer of its own.
    package init(accepted what: String, from environment: Environment) {
        self.init(environment, [.init("accepted", true)], text: "\(what) (\(environment))")
    }

    /// How far Apple is with a mass extension.
    package init(massStatus answer: MassExtensionStatus, from environment: Environment) {
        self.init(
            environment,
            [
                .init("complete", .bool(answer.complete)), .init("complete_date", .time(answer.completeDate)),
                .init("succeeded_count", answer.succeededCount.json),
                .init("failed_count", answer.failedCount.json),
            ], unknown: answer.unknownFields,
            text: CommandAnswer.lines([
                ("complete", answer.complete ? "yes" : "not yet"), ("at", answer.completeDate.map { "\($0)" }),
                ("extended", answer.succeededCount.map { "\($0)" }), ("failed", answer.failedCount.map { "\($0)" }),
                ("environment", "\(environment)"),
            ]))
    }
}
