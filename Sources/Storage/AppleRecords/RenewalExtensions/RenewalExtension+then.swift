import Base
import Postgres

extension RenewalExtension {
    /// A row of ``columns`` and ``failuresThen(_:)`` as it stood at an instant, by the dates of its changes; now where that is nil.
    init(_ row: PostgresRow, then instant: PostgresTimestamp?) throws {
        try self.init(row)
        guard let instant else { return }
        failuresHeard = try row.decode("failures_then")
        // What a worker waits for is of now.
        waitingFor = nil
        turn(to: instant)
    }

    /// Where an extension was asked for again, only the last try has dates: before that, how it stood is not known.
    private mutating func turn(to instant: PostgresTimestamp) {
        func isPast(_ date: PostgresTimestamp?) -> Bool { date.map { $0 <= instant } ?? false }
        guard !isPast(settledAt) else { return }
        let (isAsked, isAccepted, isCompleted) = (isPast(askedAt), isPast(acceptedAt), isPast(completedAt))
        isDated = isAsked ? isAccepted || acceptedAt != nil || !isTakenOn : askedAgain == 0
        state = isCompleted ? .completed : isAccepted ? .accepted : isAsked ? .unknown : .requested
        (settledAt, refusal, closed, notificationUUID) = (nil, nil, nil, nil)
        if !isCompleted { (completedAt, succeeded, failed) = (nil, nil, nil) }
        if !isPast(confirmedAt) { confirmedAt = nil }
        if !isAccepted { (acceptedAt, effectiveAt) = (nil, nil) }
        if !isAsked { (askedAt, before) = (nil, nil) }
    }

    /// Whether Apple had to take it on to come so far.
    private var isTakenOn: Bool {
        switch state {
        case .accepted, .completed, .extended: true
        case .requested, .unknown, .refused, .notExtended, .closed: false
        }
    }
}

extension PostgresQuery.StringInterpolation {
    /// How many failures of the extension `r` Apple had signed by an instant, as `failures_then`.
    mutating func appendInterpolation(failuresBy instant: PostgresTimestamp?) {
        appendLiteral(
            """
            (select count(*) from storehook.extension_failures f
              where f.extension_id = r.id and f.signed_at <= coalesce(
            """)
        appendInterpolation(instant)
        appendLiteral("::timestamptz, 'infinity')) as failures_then")
    }
}
