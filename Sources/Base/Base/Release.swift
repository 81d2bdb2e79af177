import CEmbedded

/// Which storehook this is.
package enum Release {
    /// The version, as Semantic Versioning has it. It stands nowhere else.
    package static let version = "0.1.0"

    /// The commit that it was built from, where the build was told: `deploy/package` and the Dockerfile do. Otherwise
    /// `unknown`, so that a commit alone makes no build anew.
    package static let commit = String(cString: storehook_commit())

    /// What it calls itself in the requests that it sends: the header `User-Agent`.
    package static let userAgent = "storehook/\(version)"
}
