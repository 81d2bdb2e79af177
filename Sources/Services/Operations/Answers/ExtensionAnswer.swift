package import AppleRecords
import Base
import FoundationEssentials
import Postgres

/// An extension of renewal dates, with the subscriptions that Apple has named as not extended where they are asked for.
package struct ShownExtension: Sendable {
    fileprivate let record: RenewalExtension
    fileprivate let failures: [ExtensionFailure]?

    /// An extension.
    package init(_ record: RenewalExtension, _ failures: [ExtensionFailure]? = nil) {
        self.record = record
        self.failures = record.subject.kind == "one" ? nil : failures
    }

    fileprivate static let shape = CommandShape<ShownExtension>([
        .init("id", column: "ID", \.record.id), .init("environment", \.record.scope.environment),
        .init("app", \.record.scope.bundleID), .init("kind", \.record.subject.kind),
        .init("original_transaction_id", \.originalTransactionID), .init("product_id", \.all?.productID),
        .init("storefronts", \.all?.storefronts), .init("requested_at", column: "REQUESTED", \.record.requestedAt),
        .init("requested_by", column: "BY", \.record.requestedBy),
        .column("WHAT") { "\($0.subject) (\($0.record.scope.environment))" },
        .init("days", column: "DAYS", \.record.days), .init("reason_code", \.record.reasonCode),
        .init("request_identifier", \.record.requestIdentifier), .init("why", \.record.why),
        .init("state") { $0.record.isDated ? $0.record.state.rawValue : nil },
        .column("STATE") {
            $0.record.isDated ? $0.record.state.rawValue + ($0.record.refusal.map { " (\($0.code))" } ?? "") : nil
        },
        .init("asked_at", \.record.askedAt),
        .init("asked_again") { $0.record.askedAgain == 0 || !$0.record.isDated ? nil : $0.record.askedAgain },
        .init("renews_before", \.record.before?.renewsAt), .init("accepted_at", \.record.acceptedAt),
        .init("effective_date", column: "RENEWS", \.record.effectiveAt), .init("confirmed_at", \.record.confirmedAt),
        .init("notification_uuid", \.record.notificationUUID), .init("completed_at", \.record.completedAt),
        .init("succeeded_count", \.record.succeeded), .init("failed_count", column: "FAILED", \.record.failed),
        .init("failures_heard") { $0.all == nil ? nil : $0.record.failuresHeard },
        .init("failures") { $0.failures.map { failure.values(of: $0) } },
        .init("code", \.record.refusal?.code), .init("message", \.record.refusal?.message),
        .init("closed_by", \.record.closed?.by), .init("closed_why", \.record.closed?.why),
        .init("settled_at", \.record.settledAt), .init("waiting_for", \.record.waitingFor),
    ])

    private static let failure = CommandShape<ExtensionFailure>([
        .init("original_transaction_id", column: "NOT EXTENDED", \.originalTransactionID),
        .init("signed_at", column: "SIGNED", \.signedAt),
        .init("notification_uuid", column: "NOTIFICATION", \.notificationUUID),
    ])

    private var originalTransactionID: String? {
        if case .one(let original) = record.subject { original } else { nil }
    }

    private var all: (productID: String, storefronts: [String])? {
        if case .all(let product, let countries) = record.subject { (product, countries) } else { nil }
    }

    /// What is extended, for people.
    private var subject: String {
        switch record.subject {
        case .one(let original): "subscription \(original)"
        case .all(let product, let countries):
            "all of \(product)" + (countries.isEmpty ? "" : " in \(countries.joined(separator: ", "))")
        }
    }

    /// Where it stands, and what to do.
    private var standing: String {
        guard record.isDated else {
            return "not known of then: Apple was asked again since, and only the last try has dates"
        }
        return switch record.state {
        case .requested:
            (record.askedAgain == 0
                ? "requested: Apple was not asked yet" : "requested: Apple had done nothing, and is asked again")
                + (record.waitingFor.map { " (\($0))" } ?? "") + "; workers go on trying"
        case .unknown:
            "unknown: Apple was asked, and what it did is not known; workers find out before it is asked again"
        case .accepted where all == nil: "accepted: Apple has extended it; waiting for RENEWAL_EXTENDED"
        case .accepted: "accepted: Apple works through it, for hours or days"
        case .completed: "completed: Apple is done; waiting for what it posts about failures"
        case .extended: "extended"
        case .refused: "refused (\(record.refusal?.code ?? "")): \(record.refusal?.message ?? "")"
        case .notExtended:
            "not_extended: Apple was asked \(record.askedAgain + 1) times and shows nothing of it; see "
                + "StorehookExtensionNotDone in deploy/runbook.md"
        case .closed: "closed by \(record.closed?.by ?? ""): \(record.closed?.why ?? "")"
        }
    }

    /// For people: what the extension is, one line per step, and the purchases that Apple could not extend.
    fileprivate var text: String {
        func time(_ instant: PostgresTimestamp?) -> String? { instant.map { "\(Timestamp($0))" } }
        let counts = record.failed.map { failed in
            "\(record.succeeded ?? 0) extended, \(failed) failed, of which \(record.failuresHeard) are named"
        }
        let head = CommandAnswer.lines([
            ("extension", "\(record.id) of \(subject), \(record.scope.bundleID), \(record.scope.environment)"),
            ("state", standing), ("days", "\(record.days)"), ("request", record.requestIdentifier),
            ("requested", "\(Timestamp(record.requestedAt)) by \(record.requestedBy)"), ("why", record.why),
            ("renewed before", time(record.before?.renewsAt)), ("asked", time(record.askedAt)),
            ("asked again", record.askedAgain == 0 || !record.isDated ? nil : "\(record.askedAgain) times"),
            ("accepted", time(record.acceptedAt)), ("renews", time(record.effectiveAt)),
            ("confirmed", time(record.confirmedAt).map { "\($0), by Apple's status" }),
            ("completed", time(record.completedAt)), ("counts", all == nil ? nil : counts),
            ("notification", record.notificationUUID?.uuidString.lowercased()), ("settled", time(record.settledAt)),
        ])
        guard let failures, !failures.isEmpty else { return head }
        return "\(head)\n\n\(Self.failure.table(of: failures))"
    }
}

extension RenewalExtension {
    /// Whether Apple has taken it on.
    package var isTaken: Bool { [.accepted, .completed, .extended].contains(state) }
}

extension CommandAnswer {
    /// One extension.
    package init(_ shown: ShownExtension) { self.init(shown, ShownExtension.shape, text: shown.text) }

    /// Extensions, a line each.
    package init(_ records: [RenewalExtension]) {
        self.init(records.map { ShownExtension($0) }, ShownExtension.shape, ifEmpty: "no extensions")
    }
}
