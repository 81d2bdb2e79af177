package import AppStoreVerification
package import Postgres

/// Why a notification is a dead letter or was put off: all codes, for letters, logs, metrics and the runbook, which
/// has an entry for each. The raw values are stored and sent, so they never change.
package enum ReasonCode: Sendable, Hashable {
    /// It does not verify, or, for the transient codes, cannot be verified now.
    case verification(VerificationCode)
    /// What is stored cannot be read: the bytes are damaged, or packed as a later release does.
    case bodyUnreadable
    /// The stored bytes name a header that is missing. It waits for the header, however long that takes.
    case headerMissing
    /// The stored bytes are gone.
    case bodyMissing
    /// A renewal info by itself whose purchase is not known for any app served here. It names no app, so it waits for
    /// the purchase's first record.
    case purchaseUnknown
    /// Workers died while they processed it.
    case crashedWorker
    /// It was put off as often as it may be.
    case attemptsExhausted
    /// Applying it failed for a reason that is not the database's.
    case applyFailed
    /// The database refused to take its dead letter.
    case deadLetterRefused
    /// The database could not be reached.
    case databaseUnavailable
    /// The database did not answer in time.
    case databaseTimeout
    /// The database's answer could not be read.
    case databaseDecoding
    /// The database call needs something that this release's client does not support.
    case databaseUnsupported
    /// The worker was stopped while it processed it.
    case cancelled
    /// The database's error.
    case sqlState(SQLState)

    /// The code of a database failure.
    package init(_ error: PostgresError) {
        self =
            switch error.kind {
            case .server(let state): .sqlState(state)
            case .connection: .databaseUnavailable
            case .timeout, .unconfirmed: .databaseTimeout
            case .cancelled: .cancelled
            case .decoding: .databaseDecoding
            case .configuration, .unsupported: .databaseUnsupported
            }
    }

    /// The codes with a name of their own: all but ``sqlState(_:)``, which has one per SQLSTATE.
    package static let named: [ReasonCode] =
        VerificationCode.allCases.map(ReasonCode.verification) + [
            .bodyUnreadable, .headerMissing, .bodyMissing, .purchaseUnknown, .crashedWorker, .attemptsExhausted,
            .applyFailed,
            .deadLetterRefused,
            .databaseUnavailable, .databaseTimeout, .databaseDecoding, .databaseUnsupported, .cancelled,
        ]

    /// Whether the post has no proof of its sender: its form, its chain or its signature failed. Correctly signed
    /// evidence is never junk, whatever else is wrong with it: it waits for a setting. The schema's `expire_junk` has
    /// the same codes.
    package var isJunk: Bool {
        guard case .verification(let code) = self else { return false }
        return switch code {
        case .malformed, .unsupportedAlgorithm, .wrongChainLength, .malformedCertificate, .untrustedRoot, .invalidChain,
            .certificateNotValidAt, .missingMarkerOID, .invalidSignature:
            true
        default: false
        }
    }

    /// Whether it is about the environment rather than the row, where a lookup for a whole batch failed: no row was
    /// tried, and none is to blame.
    package var isOfSurroundings: Bool {
        switch self {
        case .headerMissing, .databaseUnavailable, .databaseTimeout, .databaseDecoding, .databaseUnsupported,
            .cancelled, .sqlState:
            true
        default: false
        }
    }

    /// The category of its dead letter; nil where a notification is only put off for it. An error of the database becomes a letter only
    /// where a row may be to blame.
    package var category: DeadLetterCategory? {
        switch self {
        case .verification(let code): code.isTransient ? nil : .unverified
        case .headerMissing, .deadLetterRefused, .databaseUnavailable, .databaseTimeout, .databaseDecoding,
            .databaseUnsupported, .cancelled:
            nil
        case .bodyUnreadable, .bodyMissing, .purchaseUnknown, .crashedWorker, .attemptsExhausted, .applyFailed:
            .unprocessable
        case .sqlState(let state): RefusalClass.ofRows.contains(state.classCode) ? .unprocessable : nil
        }
    }
}

extension ReasonCode: RawRepresentable {
    private static let sqlStatePrefix = "sqlstate_"

    /// A code by its name; nil if this release has no such code.
    package init?(rawValue: String) {
        if let named = Self.named.first(where: { $0.rawValue == rawValue }) {
            self = named
        } else if rawValue.hasPrefix(Self.sqlStatePrefix), rawValue.utf8.count == Self.sqlStatePrefix.utf8.count + 5 {
            self = .sqlState(SQLState(rawValue: rawValue.dropFirst(Self.sqlStatePrefix.count).uppercased()))
        } else {
            return nil
        }
    }

    /// Its name: lower case, digits and underscores.
    package var rawValue: String {
        switch self {
        case .verification(let code): code.rawValue
        case .sqlState(let state): Self.sqlStatePrefix + state.rawValue.lowercased()
        case .bodyUnreadable: "body_unreadable"
        case .headerMissing: "header_missing"
        case .bodyMissing: "body_missing"
        case .purchaseUnknown: "purchase_unknown"
        case .crashedWorker: "crashed_worker"
        case .attemptsExhausted: "attempts_exhausted"
        case .applyFailed: "apply_failed"
        case .deadLetterRefused: "dead_letter_refused"
        case .databaseUnavailable: "database_unavailable"
        case .databaseTimeout: "database_timeout"
        case .databaseDecoding: "database_decoding"
        case .databaseUnsupported: "database_unsupported"
        case .cancelled: "cancelled"
        }
    }
}

extension ReasonCode {
    /// The code as a metric's label: SQLSTATEs are labelled by class, as there are hundreds of them.
    package var label: String {
        switch self {
        case .sqlState(let state): Self.label(ofClass: state.classCode)
        default: rawValue
        }
    }

    /// The other classes than ``RefusalClass/ofRows`` that have a label: they report a fault of the database, or a passing one.
    private static let classesOfTheDatabase = [
        "08", "0A", "25", "28", "2B", "39", "3F", "40", "42", "44", "53", "55", "57", "58", "72", "F0", "HV", "P0",
        "XX",
    ]

    /// The labels of all codes with this category; nil selects those for which a notification is only put off.
    package static func labels(of category: DeadLetterCategory?) -> [String] {
        let classes =
            switch category {
            case nil: classesOfTheDatabase
            case .unverified: [] as [String]
            case .unprocessable: RefusalClass.ofRows
            }
        return named.filter { $0.category == category }.map(\.label) + classes.map(label(ofClass:))
    }

    /// The labels of all codes for which a notification may be put off. Some of them are buried in the end.
    package static var labelsOfRetries: [String] {
        labels(of: nil) + [ReasonCode.purchaseUnknown, .applyFailed].map(\.label)
            + RefusalClass.ofRows.map(label(ofClass:))
    }

    private static func label(ofClass code: String) -> String { sqlStatePrefix + code.lowercased() }
}
