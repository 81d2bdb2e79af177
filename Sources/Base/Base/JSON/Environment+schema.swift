extension Environment {
    /// What `/openapi.json` says of an environment: one of those that can be served.
    package static let schema = ValueSchema.named(
        "Environment", .choice([production, sandbox, xcode, localTesting].map(\.rawValue)))
}
