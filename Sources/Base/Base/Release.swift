import CEmbedded

/// The version of storehook.
package enum Release {
    /// The version, by Semantic Versioning. It is defined nowhere else.
    package static let version = "0.1.0"

    /// The commit that it was built from, where the build is given it: `deploy/package` and the Dockerfile do that.
    /// Otherwise `unknown`, so that a new commit alone causes no rebuild.
    package static let commit = String(cString: storehook_commit())

    /// The `User-Agent` of its requests.
    package static let userAgent = "storehook/\(version)"
}
