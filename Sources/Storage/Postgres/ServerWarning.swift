/// What a WARNING of the server means for the commit that it came with.
enum ServerWarning {
    /// PostgreSQL's functions that warn of transaction or multixact IDs running out: with each ID that they assign,
    /// and when the limits are set (varsup.c and multixact.c in src/backend/access/transam, PostgreSQL 14 to 18).
    /// Commits meanwhile are as safe as ever. The warnings begin tens of millions of IDs before the server takes no
    /// more writes, and refusing all posts from then on would only bring that end forward.
    private static let warnersOfWraparound: Set<String> = [
        "GetNewTransactionId", "SetTransactionIdLimit", "GetNewMultiXactId", "SetMultiXactIdLimit",
    ]

    /// Whether it may put a commit in doubt. An unknown warning may.
    /// - Parameters:
    ///   - severity: in English, whatever `lc_messages` is.
    ///   - function: the function in the server's source that it comes from; nil where the server does not say.
    static func mayBeOfCommit(severity: String, function: String?) -> Bool {
        severity == "WARNING" && !(function.map(warnersOfWraparound.contains) ?? false)
    }
}
