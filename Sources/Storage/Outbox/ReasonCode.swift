package import AppStoreVerification
package import Postgres

/// Why a notification is a dead letter or was put off: every code there is, for letters, logs, metrics and the runbook,
/// which has an entry for each. The raw values are names that others build on: they never change.
package enum ReasonCode: Sendable, Hashable {
    /// It is not trusted, or, of `revocation_unknown`, cannot be judged now.
    case verification(VerificationCode)
    /// What is stored cannot be read: a header is gone, or the bytes are damaged.
    case bodyUnreadable
    /// What was stored is gone.
    case bodyMissing
    /// Workers ended while they had it.
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
    /// The database was asked for something that this release's client does not do.
    case databaseUnsupported
    /// The worker was stopped in the middle of it.
    case cancelled
    /// The database's own answer.
    case sqlState(SQLState)

    /// What failed in the database.
    package init(_ error: PostgresError) {
        self =
            switch error.kind {
            case .server(let state): .sqlState(state)
            case .connection: .databaseUnavailable
            case .timeout: .databaseTimeout
            case .cancelled: .cancelled
            case .decoding: .databaseDecoding
            case .configuration, .unsupported: .databaseUnsupported
            }
    }

    /// The codes with a name of their own: all but ``sqlState(_:)``, of which there are as many as PostgreSQL has.
    package static let named: [ReasonCode] =
        VerificationCode.allCases.map(ReasonCode.verification) + [
            .bodyUnreadable, .bodyMissing, .crashedWorker, .attemptsExhausted, .applyFailed, .deadLetterRefused,
            .databaseUnavailable, .databaseTimeout, .databaseDecoding, .databaseUnsupported, .cancelled,
        ]

    /// Which kind of letter it makes; nil where it passes, so that the notification is only put off for it. Of the
    /// database's answers those that pass never come as far as a letter.
    package var category: DeadLetterCategory? {
        switch self {
        case .verification(.revocationUnknown): nil
        case .verification: .unverified
        case .deadLetterRefused, .databaseUnavailable, .databaseTimeout, .cancelled: nil
        case .bodyUnreadable, .bodyMissing, .crashedWorker, .attemptsExhausted, .applyFailed, .databaseDecoding,
            .databaseUnsupported:
            .unprocessable
        case .sqlState(let state): state.isTransient ? nil : .unprocessable
        }
    }
}

extension ReasonCode: RawRepresentable {
    private static let sqlStatePrefix = "sqlstate_"

    /// A code by its name; nil if this release has none of that name.
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
        case .bodyMissing: "body_missing"
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
    /// The code as a metric's label: of the database's answers their class, as there are hundreds of them.
    package var label: String {
        switch self {
        case .sqlState(let state): Self.sqlStatePrefix + state.classCode.lowercased()
        default: rawValue
        }
    }

    /// The labels of all that makes a letter of this kind; of what passes, without one.
    package static func labels(of category: DeadLetterCategory?) -> [String] {
        let classes =
            switch category {
            case nil: ["08", "25", "40", "53", "55", "57", "58", "72"]
            case .unverified: [] as [String]
            case .unprocessable: ["21", "22", "23", "42", "54", "xx"]
            }
        return named.filter { $0.category == category }.map(\.label) + classes.map { sqlStatePrefix + $0 }
    }
}
