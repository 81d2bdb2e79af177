import Base
import Figures
import Postgres

/// In which zone and currency figures stand, and in which they are being summed.
struct FigureState {
    /// The zone of the figures that stand; nil before any do.
    var zone: String?
    /// The zone whose days are being summed.
    var nextZone: String?
    /// The first day that is summed in it.
    var summedFrom: CalendarDay?
    /// The zone of fiscal months, where these are wanted.
    var fiscalZone: String?
    /// The first day that is summed in it, while it is kept beside the others; nil where all are.
    var fiscalFrom: CalendarDay?
    /// The currency to which amounts are converted; nil where there is none.
    var currency: String?
    /// The first day that is converted; nil where all are, or there is no currency.
    var convertedFrom: CalendarDay?

    /// Those in which days are to be up to date.
    var zones: [String] { convertedZones + [fiscalZoneBeside].compactMap(\.self) }

    /// Those whose days are in the currency, too. Fiscal months are converted when they are asked for: kept sums would be as much work again.
    var convertedZones: [String] { [zone, nextZone].compactMap(\.self) }

    /// The zone of fiscal months where it is none of the others.
    var fiscalZoneBeside: String? { fiscalZone.flatMap { convertedZones.contains($0) ? nil : $0 } }

    /// The first day that is summed in a zone; nil where all are.
    func firstDay(in zone: String) -> CalendarDay? {
        zone == self.zone ? nil : zone == nextZone ? summedFrom : fiscalFrom
    }

    private init(_ row: PostgresRow) throws {
        zone = try row.decode("zone")
        nextZone = try row.decode("next_zone")
        summedFrom = try row.decode("summed_from", as: String?.self).flatMap { CalendarDay($0) }
        fiscalZone = try row.decode("fiscal_zone")
        fiscalFrom = try row.decode("fiscal_from", as: String?.self).flatMap { CalendarDay($0) }
        currency = try row.decode("currency")
        convertedFrom = try row.decode("converted_from", as: String?.self).flatMap { CalendarDay($0) }
    }

    private static let columns = """
        zone, next_zone, summed_from::text as summed_from, fiscal_zone, fiscal_from::text as fiscal_from, currency,
        converted_from::text as converted_from
        """

    /// The state as it stands.
    static func read(_ session: borrowing PostgresSession) throws -> FigureState {
        try FigureState(
            session.query(
                PostgresQuery(unescaped: "select \(columns) from storehook.figure_state", name: "figures.state_read")
            ).one())
    }

    /// The state, locked; nil while another worker has it. The transaction says what it sums: where a release that sums less deletes a day's
    /// cells, a trigger has all days summed anew.
    static func locked(_ session: borrowing PostgresSession) throws -> FigureState? {
        try session.query(
            PostgresQuery(
                unescaped:
                    "select \(columns), set_config('storehook.figure_content', '\(content)', true) from storehook.figure_state for update skip locked",
                name: "figures.lock"
            ).keepingPlan()
        ).map { try FigureState($0) }.first
    }

    /// Whether all days of a zone are converted to a currency: the zone is the one that stands.
    func keeps(_ currency: String, in zone: String) -> Bool {
        self.zone == zone && self.currency == currency && convertedFrom == nil
    }

    // MARK: The zone

    /// Begins to sum in a zone: behind its last day, today or later.
    mutating func begin(_ zone: String, _ session: borrowing PostgresSession) throws {
        if zone == fiscalZoneBeside {
            // Its days are summed already, but not in the currency.
            try session.query(.dropConverted(in: zone))
            if currency != nil { convertedFrom = try Self.behindLastDay(in: zone, session) }
            summedFrom = fiscalFrom ?? CalendarDay(number: FigureQuestion.firstDay)
            fiscalFrom = nil
        } else {
            leaveNextZone()
            // What is left of the zone from an earlier change of it goes first.
            try session.query(.drop(zone), deadline: .seconds(600))
            summedFrom = try Self.behindLastDay(in: zone, session)
        }
        nextZone = zone
        try write(session)
        try waitForWriters(session)
    }

    /// A statement that changes the books marks by the zones that it finds. Those that may not have found a new one are waited for, and later
    /// ones wait for the commit.
    private func waitForWriters(_ session: borrowing PostgresSession) throws {
        try session.query("lock table storehook.figure_marks in share mode")
    }

    /// What is summed in the next zone is kept where it is that of fiscal months.
    private mutating func leaveNextZone() {
        if nextZone != nil, nextZone == fiscalZone { fiscalFrom = summedFrom }
    }

    /// Stays in the zone that stands.
    mutating func abandon(_ session: borrowing PostgresSession) throws {
        leaveNextZone()
        (nextZone, summedFrom) = (nil, nil)
        try write(session)
    }

    /// Sums the next days of a new zone, the latest first. At the end its figures stand.
    /// - Returns: whether there are more.
    mutating func walk(_ count: Int64, _ session: borrowing PostgresSession) throws -> Bool {
        guard let nextZone, let from = summedFrom else { return false }
        let first = try session.query(.firstDay(in: nextZone)).one().decode(0, as: String?.self)
            .flatMap { CalendarDay($0) }
        guard let first, first < from else {
            (zone, self.nextZone, summedFrom) = (nextZone, nil, nil)
            // Its days were converted as they were summed, but for those of before the currency changed.
            if convertedFrom != nil { convertedFrom = try Self.behindLastDay(in: nextZone, session) }
            try write(session)
            return convertedFrom != nil
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

    /// Keeps the days of fiscal months from now on, or no longer.
    /// - Returns: whether their zone is a new one, whose days come later.
    mutating func keepFiscalMonths(_ isWanted: Bool, _ session: borrowing PostgresSession) throws -> Bool {
        // Before any figures stand these come first.
        guard zone != nil, isWanted != (fiscalZone != nil) else { return false }
        (fiscalZone, fiscalFrom) = (isWanted ? AppleReport.timeZone : nil, nil)
        if let fiscalZoneBeside { return try beginFiscalMonths(in: fiscalZoneBeside, session) }
        try write(session)
        return false
    }

    /// Sums all days of fiscal months anew, from none on.
    mutating func beginFiscalMonths(in zone: String, _ session: borrowing PostgresSession) throws -> Bool {
        try session.query(.drop(zone), deadline: .seconds(600))
        fiscalFrom = try Self.behindLastDay(in: zone, session)
        try write(session)
        try waitForWriters(session)
        return true
    }

    /// Sums the next days of fiscal months, the latest first.
    /// - Returns: whether there are more.
    mutating func walkFiscalMonths(_ count: Int64, _ session: borrowing PostgresSession) throws -> Bool {
        // A new zone of the figures comes first.
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

    /// Sums whole days anew, in the currency, too.
    func sum(_ days: [CalendarDay], in zone: String, _ session: borrowing PostgresSession) throws {
        // A day is summed as a whole: an import may make millions of accounts known on one.
        try session.query(.sum(days, in: zone), deadline: .seconds(600))
        try session.query(.sumCohorts(days, in: zone))
        try session.query(.sumValues(days, in: zone))
        try convert(days, in: zone, session)
    }

    // MARK: The currency

    /// Takes another currency, or none. While its days are being converted, answers in it are worked out from the cells.
    mutating func take(_ currency: String?, _ session: borrowing PostgresSession) throws {
        // What is left of it from an earlier change goes first.
        if let currency { try session.query(.dropConverted(to: currency)) }
        self.currency = currency
        // Where nothing is summed yet, each day will be converted as it is summed.
        let zone = zone ?? nextZone
        convertedFrom = currency == nil ? nil : try zone.flatMap { try Self.behindLastDay(in: $0, session) }
        try write(session)
    }

    /// Converts the next days of the zone that stands, the latest first.
    /// - Returns: whether there are more.
    mutating func walkConversion(_ count: Int64, _ session: borrowing PostgresSession) throws -> Bool {
        // A new zone's days are converted as they are summed.
        guard let zone, nextZone == nil, let from = convertedFrom else { return false }
        let days = try session.query(.days(in: zone, before: from, count)).compactMap {
            CalendarDay(try $0.decode(0, as: String.self))
        }
        try convert(days, in: zone, session)
        convertedFrom = days.count < count ? nil : days.last
        try write(session)
        return convertedFrom != nil
    }

    /// Converts whole days anew.
    func convert(_ days: [CalendarDay], in zone: String, _ session: borrowing PostgresSession) throws {
        guard let currency, !days.isEmpty, convertedZones.contains(zone) else { return }
        try session.query(.convert(days, in: zone, to: currency))
        try session.query(.dropEmpty(days, in: zone, currency))
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
                       fiscal_zone = \(fiscalZone), fiscal_from = \(fiscalFrom?.description)::text::date,
                       currency = \(currency), converted_from = \(convertedFrom?.description)::text::date
                """))
    }
}
