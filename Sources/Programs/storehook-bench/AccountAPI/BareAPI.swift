import AccountAPI
import Accounts
import AppStorePayloads
import ArgumentParser
import Base
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Postgres

/// The upper bound for the account API: Hummingbird's router and the same token check, with nothing behind it or with
/// one statement that reads no table.
struct BareAPI: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bare-api",
        abstract: "Routes that check an app's token and do nothing, or ask the database for nothing.",
        discussion: """
            Reads DATABASE_URL, and STOREHOOK_JWT_KEYS, a file. GET /nothing answers 204, GET /select after a select 1.

            Example: storehook-bench bare-api --port 8099 --issuer bench --audience bench
            """,
        shouldDisplay: false)

    @Option(help: "The port to listen on.") var port: Int
    @Option(help: "Database connections.") var connections = 8
    @Option(help: "What stands as iss in the tokens.") var issuer: String
    @Option(help: "What stands as aud in the tokens.") var audience: String

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        guard let url = environment["DATABASE_URL"], let keys = environment["STOREHOOK_JWT_KEYS"] else {
            throw ValidationError("needs DATABASE_URL and STOREHOOK_JWT_KEYS")
        }
        let logger = Logger(label: "bare-api") { StreamLogHandler.standardError(label: $0) }
        let tokenKeys = TokenKeys(try TokenKeySource(keys), logger: logger)
        try await tokenKeys.read()
        let check = TokenCheck(
            tokenKeys, TokenRules(issuer: issuer, audience: audience), AccountIDTable(.auto, logger: logger)
        ) {
            Timestamp(millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1000))
        }
        let pool = PostgresPool(configuration: try PostgresConfiguration(url: url), size: connections, logger: logger)
        let router = Router()
        router.get("nothing") { request, _ in
            try await Self.identify(request, check)
            return Response(status: .noContent)
        }
        router.get("select") { request, _ in
            try await Self.identify(request, check)
            try await pool.query("select 1")
            return Response(status: .noContent)
        }
        var application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)), logger: logger)
        application.addServices(pool)
        try await application.runService()
    }

    private static func identify(_ request: Request, _ check: TokenCheck) async throws {
        guard let token = request.headers[.authorization]?.dropFirst("Bearer ".count) else {
            throw HTTPError(.unauthorized)
        }
        _ = try await check.caller(of: token)
    }
}
