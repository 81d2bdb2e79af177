public import HTTPKit

/// How a receiver listens, and what bounds it.
public struct ReceiverConfiguration: Sendable {
    /// How it listens. Two commits fit into its `stopDeadline`, the one under way and the one after it, even if the
    /// database answers neither; Apple's bodies, of less than 20 kB, into its `maximumBodySize`.
    public var http: HTTPServerConfiguration
    /// Where Apple may post: paths without a query, each once.
    public var paths = Self.usualPaths
    /// What bounds the receiver's memory and each commit.
    public var limits = GroupCommit.Limits()
    /// How often to ask which headers of signatures need not be stored any more, give or take a quarter.
    public var headerInterval: Duration = .seconds(30)
    /// How often to ask which senders to refuse, give or take a quarter.
    public var refusalInterval: Duration = .seconds(2)
    /// How often posts of version 1 are recorded in the database, give or take a quarter.
    public var oldPostInterval: Duration = .seconds(60)
    /// The Retry-After of a post that was not stored, in whole seconds.
    public var retryAfter: Duration = .seconds(5)

    /// The paths that every receiver takes posts at. App Store Connect may still have a URL of the systems whose place storehook
    /// takes; the second and the third are theirs.
    public static let usualPaths = ["/webhooks/apple", "/v1/subscriptions/webhook", "/subscription/webhook"]

    /// A configuration.
    public init(host: String, port: Int) {
        http = HTTPServerConfiguration(host: host, port: port)
    }
}
