import AppStorePayloads
import AppStoreServerAPI
import AppleRecords
import AppleSync
import ArgumentParser
import Base
import Operations
import Pipeline
import Staff

/// What every extension of renewal dates takes.
struct ExtensionTerms: ParsableArguments {
    @Option(help: "By how many days, 1 to 90.") var days: Int64
    @Option(help: "undeclared, customer-satisfaction, other or outage.") var reason: ExtensionReason
    @Option(help: "Why, for the record.") var why: String?
    @OptionGroup var acting: ActingOptions

    func validate() throws {
        try (1...90).check(days, "--days")
        if let why, why.unicodeScalars.count > 1000 {
            throw ValidationError("--why takes at most 1000 characters")
        }
    }

    /// Records an extension, asks Apple at once, and prints how it stands.
    /// - Parameter place: where it is, unless the options say it.
    func extend(
        _ options: AppleOptions, _ subject: RenewalExtension.Subject, name: String,
        in place: (AppStoreClient) async throws -> Environment
    ) async throws {
        let settings = try await options.shared.settings()
        guard settings.hasDatabase else {
            throw settings.missing(
                "DATABASE_URL is not set: an extension is recorded before Apple is asked, so that it is asked once; example: "
                    + "postgresql://storehook-ops@localhost/storehook")
        }
        let record = try await Database.with(settings) { pool in
            try await AppleAccess.with(settings, app: options.app, in: options.place) { client, environment in
                let environment = if let environment { environment } else { try await place(client) }
                let extensions = RenewalExtensions(pool)
                let hand = ExtensionByHand(
                    extensions,
                    ExtensionDuty(
                        extensions, History(pool), logger: try settings.logger("extensions"),
                        metrics: AppleSyncMetrics()),
                    AppleClients([client], in: [environment]), owner: Operator.name)
                return try await Self.told {
                    try await hand.extend(
                        RenewalExtensions.Wish(
                            in: AppEnvironment(bundleID: client.bundleId, environment: environment.rawValue),
                            for: subject, requestIdentifier: name, days: days, reasonCode: reason.code.rawValue,
                            by: try acting.actor(for: .extend(days: days)), why: why))
                }
            }
        }
        options.output.print(CommandAnswer(ShownExtension(record)))
        if !record.isTaken { throw ExitStatus.failed }
    }

    private static func told<T>(_ body: () async throws -> T) async throws -> T {
        do {
            return try await body()
        } catch RenewalExtensions.Conflict.nameTaken(let id) {
            throw CommandFailure("a request of that name is on record: storehook extensions show \(id)")
        } catch RenewalExtensions.Conflict.underWay(let id) {
            throw CommandFailure(
                "one for the same is not finished, and a second could not be distinguished from it: storehook extensions show \(id)"
            )
        } catch RenewalExtensions.Conflict.overlaps(let id) {
            throw CommandFailure(
                "one for some of the same subscriptions is not finished, and Apple posts the same of both: wait for its end, or "
                    + "close it; storehook extensions show \(id)"
            )
        }
    }
}
