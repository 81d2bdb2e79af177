import Base
import Figures
import Postgres

/// The zones and currencies that figures are summed in.
struct FigureState {
    /// The standing zone: all of its days are summed, and answers are in it. Nil before there is one.
    var zone: String?
    /// The next zone: workers sum its days, and then it stands.
    var nextZone: String?
    /// The first summed day of the next zone. All later ones are summed, too.
    var summedFrom: CalendarDay?
    /// The zone of fiscal months; nil where these are not wanted.
    var fiscalZone: String?
    /// The first summed day of a zone that is kept for fiscal months alone; nil where all of its days are.
    var fiscalFrom: CalendarDay?
    /// The currencies with kept sums.
    var currencies: [KeptCurrency] = []

    /// The zones with days that workers keep up to date.
    var zones: [String] { convertedZones + [fiscalZoneBeside].compactMap(\.self) }

    /// The zones with sums in the kept currencies. Fiscal months have none: they would be as much work again, so an answer converts them.
    var convertedZones: [String] { [zone, nextZone].compactMap(\.self) }

    /// The zone that is kept for fiscal months alone.
    var fiscalZoneBeside: String? { fiscalZone.flatMap { convertedZones.contains($0) ? nil : $0 } }

    /// The first summed day of a zone; nil where all are summed.
    func firstDay(in zone: String) -> CalendarDay? {
        zone == self.zone ? nil : zone == nextZone ? summedFrom : fiscalFrom
    }

    private init(_ row: PostgresRow) throws {
        zone = try row.decode("zone")
        nextZone = try row.decode("next_zone")
        summedFrom = try row.decode("summed_from", as: String?.self).flatMap { CalendarDay($0) }
        fiscalZone = try row.decode("fiscal_zone")
        fiscalFrom = try row.decode("fiscal_from", as: String?.self).flatMap { CalendarDay($0) }
    }

    private static let columns =
        "zone, next_zone, summed_from::text as summed_from, fiscal_zone, fiscal_from::text as fiscal_from"

    /// The state as it stands.
    static func read(_ session: borrowing PostgresSession) throws -> FigureState {
        var state = try FigureState(
            session.query(
                PostgresQuery(unescaped: "select \(columns) from storehook.figure_state", name: "figures.state_read")
            ).one())
        state.currencies = try KeptCurrency.read(session)
        return state
    }

    /// The state without its currencies, locked; nil while another worker has the lock. The transaction states which content it sums: a trigger
    /// marks all days where an earlier release, which sums less, deletes cells.
    static func locked(_ session: borrowing PostgresSession) throws -> FigureState? {
        try session.query(
            PostgresQuery(
                unescaped:
                    "select \(columns), set_config('storehook.figure_content', '\(content)', true) from storehook.figure_state for update skip locked",
                name: "figures.lock"
            ).keepingPlan()
        ).map { try FigureState($0) }.first
    }

    // MARK: The zone

    /// Begins a zone. Its days come later, the latest first, beginning behind today or the last day with a row.
    /// - Returns: whether it began. The rows of earlier zones are deleted before, in portions.
    mutating func begin(_ zone: String, _ session: borrowing PostgresSession) throws -> Bool {
        guard try sweep(session) else { return false }
        if zone == fiscalZoneBeside {
            // Its days are summed already.
            summedFrom = fiscalFrom ?? CalendarDay(number: FigureQuestion.firstDay)
            fiscalFrom = nil
        } else {
            leaveNextZone()
            summedFrom = try Self.behindLastDay(in: zone, session)
        }
        nextZone = zone
        try write(session)
        try waitForWriters(session)
        return true
    }

    /// Deletes a portion of the rows of zones and currencies that are no longer kept.
    /// - Returns: whether there were none.
    func sweep(_ session: borrowing PostgresSession) throws -> Bool {
        let sums = try session.query(.sweep(zones))
        let converted = try session.query(.sweepCurrencies)
        return sums.isEmpty && converted.isEmpty
    }

    /// Waits for the open transactions that changed the books: a statement marks days in the zones that it knows, and they may not know the new
    /// one. Later writers wait for the commit. One long transaction would hold up all of them: after a quarter of a second the wait ends with an
    /// error, nothing begins, and the clock tries again.
    private func waitForWriters(_ session: borrowing PostgresSession) throws {
        try session.query(
            PostgresQuery("figures.lock_timeout", "select set_config('lock_timeout', \(Self.longestWait), true)"))
        try session.query(PostgresQuery(Self.waiting, "lock table storehook.figure_marks in share mode"))
    }

    /// How long later writers of the books may wait for earlier ones.
    private static let longestWait = "250ms"
    private static let waiting = "figures.wait_for_writers"

    /// Whether an error states that writers of the books did not end in time.
    static func isHeldUp(_ error: PostgresError) -> Bool {
        error.sqlState == .lockNotAvailable && error.operation == waiting
    }

    /// Keeps the days of the next zone if it is also the zone of fiscal months.
    private mutating func leaveNextZone() {
        if nextZone != nil, nextZone == fiscalZone { fiscalFrom = summedFrom }
    }

    /// Gives the next zone up: the standing one stays.
    mutating func abandon(_ session: borrowing PostgresSession) throws {
        leaveNextZone()
        (nextZone, summedFrom) = (nil, nil)
        try write(session)
    }

    /// Sums further days of the next zone, the latest first. Behind the last of them the zone stands.
    /// - Returns: whether there are more.
    mutating func walk(_ count: Int64, _ session: borrowing PostgresSession) throws -> Bool {
        guard let nextZone, let from = summedFrom else { return false }
        let first = try session.query(.firstDay(in: nextZone)).one().decode(0, as: String?.self)
            .flatMap { CalendarDay($0) }
        guard let first, first < from else {
            (zone, self.nextZone, summedFrom) = (nextZone, nil, nil)
            try write(session)
            return false
        }
        summedFrom = try sum(count, from: first, before: from, in: nextZone, session)
        try write(session)
        return true
    }

    /// Sums some days before one.
    /// - Returns: the first of them.
    private func sum(
        _ count: Int64, from first: CalendarDay, before last: CalendarDay, in zone: String,
        _ session: borrowing PostgresSession
    ) throws -> CalendarDay {
        let start = max(first.number, last.number - count)
        try sum((start..<last.number).map { CalendarDay(number: $0) }, in: zone, session)
        return CalendarDay(number: start)
    }

    // MARK: The zone of fiscal months

    /// Begins or ends to keep the zone of fiscal months. The rows of earlier zones are deleted before it begins, in portions.
    /// - Returns: whether a zone began. Its days come later.
    mutating func keepFiscalMonths(_ isWanted: Bool, _ session: borrowing PostgresSession) throws -> Bool {
        guard isWanted else {
            guard fiscalZone != nil else { return false }
            try forgetFiscalMonths(session)
            return false
        }
        // The first zone of the figures comes before it.
        guard zone != nil, fiscalZone == nil else { return false }
        let fiscal = AppleReport.timeZone
        guard !convertedZones.contains(fiscal) else {
            fiscalZone = fiscal
            try write(session)
            return false
        }
        guard try sweep(session) else { return false }
        (fiscalZone, fiscalFrom) = (fiscal, try Self.behindLastDay(in: fiscal, session))
        try write(session)
        try waitForWriters(session)
        return true
    }

    /// Ends to keep the zone of fiscal months.
    mutating func forgetFiscalMonths(_ session: borrowing PostgresSession) throws {
        (fiscalZone, fiscalFrom) = (nil, nil)
        try write(session)
    }

    /// Sums further days of the zone of fiscal months, the latest first.
    /// - Returns: whether there are more.
    mutating func walkFiscalMonths(_ count: Int64, _ session: borrowing PostgresSession) throws -> Bool {
        // The next zone of the figures comes before it.
        guard let zone = fiscalZoneBeside, nextZone == nil, let from = fiscalFrom else { return false }
        let first = try session.query(.firstDay(in: zone)).one().decode(0, as: String?.self).flatMap { CalendarDay($0) }
        if let first, first < from {
            fiscalFrom = try sum(count, from: first, before: from, in: zone, session)
        } else {
            fiscalFrom = nil
        }
        try write(session)
        return fiscalFrom != nil
    }

    /// Sums whole days anew, also in the kept currencies.
    func sum(_ days: [CalendarDay], in zone: String, _ session: borrowing PostgresSession) throws {
        // A day is summed as a whole, also the day of a great import.
        try session.query(.sum(days, in: zone), deadline: .seconds(600))
        try session.query(.sumValues(days, in: zone), deadline: .seconds(600))
        try convertValues(days, in: zone, session)
    }

    private static func behindLastDay(
        in zone: String, _ session: borrowing PostgresSession
    ) throws -> CalendarDay? {
        try CalendarDay(session.query(.lastDay(in: zone)).one().decode(0, as: String.self))
    }

    private func write(_ session: borrowing PostgresSession) throws {
        try session.query(
            PostgresQuery(
                "figures.state",
                """
                update storehook.figure_state
                   set zone = \(zone), next_zone = \(nextZone), summed_from = \(summedFrom?.description)::text::date,
                       fiscal_zone = \(fiscalZone), fiscal_from = \(fiscalFrom?.description)::text::date
                """))
    }
}
