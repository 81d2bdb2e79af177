import ArgumentParser

struct EndpointsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "endpoints",
        abstract: "Where events are posted to.",
        discussion: """
            Workers deliver to them (STOREHOOK_SECRET_KEY_FILE). Private addresses are not called unless
            STOREHOOK_ENDPOINT_NETWORKS names them, and http is not unless STOREHOOK_ENDPOINT_HTTP is on.

            Example: storehook endpoints add https://example.com/webhooks --kinds account.access_changed
            """,
        subcommands: [
            EndpointsAdd.self, EndpointsList.self, EndpointsTest.self, EndpointsRotate.self, EndpointsDisable.self,
            EndpointsEnable.self, EndpointsRemove.self,
        ])

    /// The endpoint of a number that there must be.
    static func unknown(_ id: Int64) -> CommandFailure {
        CommandFailure("there is no endpoint \(id); see storehook endpoints list")
    }
}
