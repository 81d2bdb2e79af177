package import HTTPKit
package import Hummingbird

/// What a port serves beside its endpoints: pages for people.
package struct OtherRoutes: Sendable {
    /// Adds the routes.
    package var add: @Sendable (HTTPRoutes) -> Void
    /// Answers a request that reaches no route, or no method of one; nil where its path is none of theirs.
    package var elsewhere: @Sendable (Request, HTTPContext, HTTPProblem) async -> Response?

    /// Memberwise.
    package init(
        add: @escaping @Sendable (HTTPRoutes) -> Void,
        elsewhere: @escaping @Sendable (Request, HTTPContext, HTTPProblem) async -> Response?
    ) {
        self.add = add
        self.elsewhere = elsewhere
    }
}
