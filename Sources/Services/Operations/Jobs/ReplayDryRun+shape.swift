package import Base
import EvidenceStore
import Subscriptions

extension ReplayDryRun.Report {
    /// The most letters and changes that a report lists; it has the numbers of all.
    private static let mostListed = 1000

    /// A report as jobs keep it and the admin API answers it.
    package static let shape = Shape<ReplayDryRun.Report, Void>(
        "ReplayReport",
        [
            .init("letters", "Letters that were looked at.") { $0.letters },
            .init("applied", "Those that would be recorded and applied.") { $0.applied },
            .init("duplicate", "Those that are recorded already.") { $0.duplicate },
            .init("parked", "Those of a type that this release does not know.") { $0.parked },
            .init("dead", "Those that would die again.") { $0.stillDead.count },
            .list("stillDead", letter, about: "The first 1,000 of these.") { Array($0.stillDead.prefix(mostListed)) },
            .init("changed", "Subscriptions whose status would change.") { $0.moves.count },
            .list("changes", move, about: "The first 1,000 of these.") { Array($0.moves.prefix(mostListed)) },
        ])

    private static let letter = Shape<StillDead, Void>(
        "StillDeadLetter",
        [
            .init("letter") { $0.id }, .init("reason") { $0.reason.rawValue }, .init("message") { $0.message },
        ])

    private static let move = Shape<Move, Void>(
        "StatusChange",
        [
            .init("originalTransactionId") { $0.purchase.originalTransactionID },
            .init("bundleId") { $0.purchase.bundleID },
            .init("environment", Environment.schema) { .string($0.purchase.environment) },
            .init("from", "Null where the purchase is not known yet.") { $0.from?.rawValue },
            .init("to") { $0.to.rawValue },
        ])
}
