/// What a WARNING of the server's says of the commit that it came with.
enum ServerWarning {
    /// The functions of PostgreSQL's that warn of transaction or multixact ids that run out: with each one that they hand out,
    /// and when the limits are set (varsup.c and multixact.c in src/backend/access/transam, PostgreSQL 14 to 18). What is
    /// committed meanwhile is as safe as ever. It begins tens of millions of ids before the server takes no more writes,
    /// and to refuse all that is posted from then on would only bring that end forward.
    private static let warnersOfWraparound: Set<String> = [
        "GetNewTransactionId", "SetTransactionIdLimit", "GetNewMultiXactId", "SetMultiXactIdLimit",
    ]

    /// Whether it may take back what the server says of a commit. Whatever is not known to speak of something else may.
    /// - Parameters:
    ///   - severity: in English, whatever `lc_messages` is.
    ///   - function: the function in the server's source that it comes from; nil where the server does not tell.
    static func mayBeOfCommit(severity: String, function: String?) -> Bool {
        severity == "WARNING" && !(function.map(warnersOfWraparound.contains) ?? false)
    }
}
