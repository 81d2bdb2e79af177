import AppStorePayloads
package import AppleRecords
import Base
import Foundation
import Postgres
import PurchaseStore

/// An extension of renewal dates, as people and scripts see it.
package struct ExtensionAnswer: Encodable, Sendable {
    private struct Failure: Encodable, Sendable {
        var originalTransactionId: String
        var notificationUuid: String
        var signedAt: String
    }

    private let id: Int64
    private let environment: String
    private let app: String
    private let kind: String
    private let originalTransactionId: String?
    private let productId: String?
    private let storefronts: [String]?
    private let days: Int64
    private let reasonCode: Int64
    private let requestIdentifier: String
    private let requestedAt: String
    private let requestedBy: String
    private let why: String?
    private let state: String
    private let askedAt: String?
    private let askedAgain: Int64?
    private let renewsBefore: String?
    private let acceptedAt: String?
    private let effectiveDate: String?
    private let confirmedAt: String?
    private let notificationUuid: String?
    private let completedAt: String?
    private let succeededCount: Int64?
    private let failedCount: Int64?
    private let failuresHeard: Int64?
    private let failures: [Failure]?
    private let code: String?
    private let message: String?
    private let closedBy: String?
    private let closedWhy: String?
    private let settledAt: String?
    private let waitingFor: String?

    /// Whether Apple has taken it on.
    package let isTaken: Bool

    private enum CodingKeys: String, CodingKey {
        case id, environment, app, kind, originalTransactionId, productId, storefronts, days, reasonCode
        case requestIdentifier, requestedAt, requestedBy, why, state, askedAt, askedAgain, renewsBefore, acceptedAt
        case effectiveDate, confirmedAt, notificationUuid, completedAt, succeededCount, failedCount, failuresHeard,
            failures, code
        case message, closedBy, closedWhy, settledAt, waitingFor
    }

    /// An answer.
    /// - Parameter failures: those that Apple has named; nil where they are not asked for.
    package init(_ record: RenewalExtension, _ failures: [ExtensionFailure]? = nil) {
        func instant(_ instant: PostgresTimestamp?) -> String? { instant.map { "\(Timestamp($0))" } }
        id = record.id
        environment = record.scope.environment
        app = record.scope.bundleID
        kind = record.subject.kind
        switch record.subject {
        case .one(let original):
            (originalTransactionId, productId, storefronts) = (original, nil, nil)
        case .all(let product, let countries):
            (originalTransactionId, productId, storefronts) = (nil, product, countries)
        }
        days = record.days
        reasonCode = record.reasonCode
        requestIdentifier = record.requestIdentifier
        requestedAt = "\(Timestamp(record.requestedAt))"
        requestedBy = record.requestedBy
        why = record.why
        state = record.state.rawValue
        askedAt = instant(record.askedAt)
        askedAgain = record.askedAgain == 0 ? nil : record.askedAgain
        renewsBefore = instant(record.before?.renewsAt)
        acceptedAt = instant(record.acceptedAt)
        effectiveDate = instant(record.effectiveAt)
        confirmedAt = instant(record.confirmedAt)
        notificationUuid = record.notificationUUID?.uuidString.lowercased()
        completedAt = instant(record.completedAt)
        succeededCount = record.succeeded
        failedCount = record.failed
        failuresHeard = originalTransactionId == nil ? record.failuresHeard : nil
        self.failures = failures.flatMap { failures in
            record.subject.kind == "one"
                ? nil
                : failures.map {
                    Failure(
                        originalTransactionId: $0.originalTransactionID,
                        notificationUuid: $0.notificationUUID.uuidString.lowercased(),
                        signedAt: "\(Timestamp($0.signedAt))")
                }
        }
        code = record.refusal?.code
        message = record.refusal?.message
        closedBy = record.closed?.by
        closedWhy = record.closed?.why
        settledAt = instant(record.settledAt)
        waitingFor = record.waitingFor
        isTaken = [.accepted, .completed, .extended].contains(record.state)
    }

    /// What is extended, for people.
    private var subject: String {
        originalTransactionId.map { "subscription \($0)" }
            ?? "all of \(productId ?? "")"
            + (storefronts.flatMap { $0.isEmpty ? nil : " in \($0.joined(separator: ", "))" } ?? "")
    }

    /// Where it stands, and what to do.
    private var standing: String {
        switch RenewalExtension.State(rawValue: state) {
        case .requested:
            (askedAgain == nil
                ? "requested: Apple was not asked yet" : "requested: Apple had done nothing, and is asked again")
                + (waitingFor.map { " (\($0))" } ?? "") + "; workers go on trying"
        case .unknown:
            "unknown: Apple was asked, and what it did is not known; workers find out before it is asked again"
        case .accepted where kind == "one": "accepted: Apple has extended it; waiting for RENEWAL_EXTENDED"
        case .accepted: "accepted: Apple works through it, for hours or days"
        case .completed: "completed: Apple is done; waiting for what it posts about failures"
        case .extended: "extended"
        case .refused: "refused (\(code ?? "")): \(message ?? "")"
        case .notExtended:
            "not_extended: Apple was asked \((askedAgain ?? 0) + 1) times and shows nothing of it; see "
                + "StorehookExtensionNotDone in deploy/runbook.md"
        case .closed: "closed by \(closedBy ?? ""): \(closedWhy ?? "")"
        case nil: state
        }
    }

    /// For people: what it is, a line a step, and whom Apple could not extend.
    package var text: String {
        let counts = failedCount.map { failed in
            "\(succeededCount ?? 0) extended, \(failed) failed, of which \(failuresHeard ?? 0) are named"
        }
        let rows: [(String, String?)] = [
            ("extension", "\(id) of \(subject), \(app), \(environment)"), ("state", standing),
            ("days", "\(days)"), ("request", requestIdentifier), ("requested", "\(requestedAt) by \(requestedBy)"),
            ("why", why), ("renewed before", renewsBefore), ("asked", askedAt),
            ("asked again", askedAgain.map { "\($0) times" }), ("accepted", acceptedAt),
            ("renews", effectiveDate), ("confirmed", confirmedAt.map { "\($0), by Apple's status" }),
            ("completed", completedAt), ("counts", kind == "all" ? counts : nil), ("notification", notificationUuid),
            ("settled", settledAt),
        ]
        var text = AppleAnswer.lines(rows)
        if let failures, !failures.isEmpty {
            var table = Table(["NOT EXTENDED", "SIGNED", "NOTIFICATION"])
            for failure in failures {
                table.add([failure.originalTransactionId, failure.signedAt, failure.notificationUuid])
            }
            text += "\n\n" + table.text
        }
        return text
    }

    /// A line each.
    package static func table(_ answers: [ExtensionAnswer]) -> String {
        guard !answers.isEmpty else { return "no extensions" }
        var table = Table(["ID", "REQUESTED", "BY", "WHAT", "DAYS", "STATE", "RENEWS", "FAILED"], numeric: [0, 4, 7])
        for answer in answers {
            table.add([
                "\(answer.id)", answer.requestedAt, answer.requestedBy, "\(answer.subject) (\(answer.environment))",
                "\(answer.days)", answer.code.map { "\(answer.state) (\($0))" } ?? answer.state,
                answer.effectiveDate ?? "-", answer.failedCount.map { "\($0)" } ?? "-",
            ])
        }
        return table.text
    }
}
