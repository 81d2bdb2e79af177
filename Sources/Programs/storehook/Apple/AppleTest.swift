import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
import ArgumentParser
import Canary
import Foundation
import Operations

struct AppleTest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Have Apple post a test notification, and tell how that went.",
        discussion: """
            Waits some seconds until Apple says that it has tried, and where DATABASE_URL is set tells when it was stored and
            applied. Production unless told otherwise.

            Example: storehook apple test --environment Sandbox
            """)

    @OptionGroup var options: AppleOptions
    @Option(help: "Ask about this test notification instead of a new one.") var token: String?

    /// Apple posts within a second or two; its own list follows some seconds later.
    private static let waits: [Int64] = [2, 3, 5, 10]

    /// A worker is woken by what is stored, and polls at worst each second; longer, and something is wrong.
    private static let arrivalLooks = 40
    private static let betweenLooks = Duration.milliseconds(500)

    func run() async throws {
        let settings = try await options.shared.settings()
        guard settings.hasDatabase else {
            return try await options.run { try await follow($0, $1, nil) }
        }
        try await Database.with(settings) { pool in
            try await options.run { try await follow($0, $1, Canaries(pool)) }
        }
    }

    /// Asks, waits until Apple has tried, and looks how far it came here.
    private func follow(
        _ client: AppStoreClient, _ environment: Environment?, _ canaries: Canaries?
    ) async throws -> AppleAnswer {
        var place = environment
        var way = TestNotificationWay()
        let name: String
        if let token {
            name = token
        } else {
            way.askedAt = WallClock.now()
            let answered = try await client.ask(TestNotificationRequest(), in: environment)
            name = answered.value.testNotificationToken
            place = answered.environment
        }
        var status: TestNotificationStatusRequest.Answer?
        for wait in token == nil ? Self.waits : [0] {
            try await Task.sleep(for: .seconds(wait))
            status = try await Self.status(name, client, place)
            if status?.sendAttempts.isEmpty == false { break }
        }
        if let canaries, let uuid = status.flatMap({ UUID(uuidString: $0.record.payload.payload.notificationUUID) }) {
            way.isLookedFor = true
            for look in 1...(token == nil ? Self.arrivalLooks : 1) {
                way.arrival = try await canaries.arrival(of: uuid)
                if way.arrival != nil { break }
                if look < Self.arrivalLooks, token == nil { try await Task.sleep(for: Self.betweenLooks) }
            }
        }
        return AppleAnswer(test: status, token: name, way: way, from: place ?? .production)
    }

    /// Nil while Apple does not know of it.
    private static func status(
        _ token: String, _ client: AppStoreClient, _ environment: Environment?
    ) async throws -> TestNotificationStatusRequest.Answer? {
        do {
            return try await client.ask(TestNotificationStatusRequest(token), in: environment).value
        } catch let failure as AppStoreFailure {
            guard failure.reason == .apple(.testNotificationNotFound) else { throw failure }
            return nil
        }
    }
}
