import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
import ArgumentParser
import Base
import Operations

struct AppleNotifications: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notifications",
        abstract: "What Apple tried to post, and how that went.",
        discussion: """
            Apple keeps 180 days, in Sandbox 30. An environment has to be named where both are served.

            Example: storehook apple notifications --environment Production --since 2026-01-31 --only-failures
            """)

    @OptionGroup var options: AppleOptions
    @Option(help: "From here on, ISO 8601 in UTC; a day ago by default.", transform: Timestamp.argument) var since:
        Timestamp?
    @Option(help: "Up to here, ISO 8601 in UTC; now by default.", transform: Timestamp.argument) var until: Timestamp?
    @Option(help: "About this transaction alone.") var transaction: String?
    @Option(help: "Of this type alone, like DID_RENEW.") var type: String?
    @Option(help: "Of this subtype alone; with --type.") var subtype: String?
    @Flag(help: "Only what has not arrived, or is still being tried.") var onlyFailures = false
    @Option(help: "At most so many.") var limit = 100

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be above 0") }
        if transaction != nil, type != nil {
            throw ValidationError("Apple takes --transaction or --type, not both")
        }
        if subtype != nil, type == nil { throw ValidationError("--subtype goes with --type") }
    }

    func run() async throws {
        let end = until ?? WallClock.now()
        let filter: NotificationFilter? =
            transaction.map { .transaction($0) }
            ?? type.map { .type(.init(rawValue: $0), subtype.map(NotificationSubtype.init(rawValue:))) }
        let request = ServerRequest.notificationHistory(
            from: since ?? end.adding(days: -1), to: end, filter, onlyFailures: onlyFailures ? true : nil)
        try await options.run { client, environment in
            guard let environment else {
                throw CommandFailure("say --environment Production or --environment Sandbox", status: .usage)
            }
            var pages = client.pages(request, in: environment)
            var seen: Set<String> = []
            var listed: [ListedNotification] = []
            var refused: [RefusedRecord] = []
            var isCut = false
            while !isCut, let page = try await pages.next() {
                refused += page.value.refused
                // Pages may be repeated, where Apple's token for the next page expires.
                for one in page.value.notifications
                where seen.insert(one.record.payload.payload.notificationUUID).inserted {
                    if listed.count == limit { isCut = true } else { listed.append(one) }
                }
            }
            return AppleAnswer(notifications: listed, refused: refused, isCut: isCut, from: environment)
        }
    }
}
