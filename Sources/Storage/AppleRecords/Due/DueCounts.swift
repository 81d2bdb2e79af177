package import Base
import Postgres

/// How much was due and was not heard of, when it was counted.
package struct DueCounts: Sendable, Hashable {
    /// One class of ages.
    package struct Line: Sendable, Hashable {
        /// How long ago it was due.
        package var age: DueAge
        /// How much was not heard of; nil before the first count.
        package var unheard: Int64?
        /// How much of subscriptions that operators imported, and that nothing was ever heard of: apart, and not among the former.
        package var imported: Int64?
        /// The instant that both are of.
        package var countedAt: Timestamp?
    }

    /// One for each age, the least first.
    package var lines: [Line]
    /// How much was due from 24 hours to one hour before it was counted, heard of or not, imported subscriptions that nothing was ever
    /// heard of left out; nil before the first count.
    package var due: Int64?
    /// The instant that this is of.
    package var dueCountedAt: Timestamp?

    /// How much of what was due six hours to a day ago was not heard of; nil before the first count.
    package var unheardAtSixHours: Int64? { lines.first { $0.age == .sixHours }?.unheard }

    /// Whether more than a twentieth, and at least twenty, of what was due within a day was not heard of six hours later. The alert
    /// `StorehookDueUnheard` has the same rule.
    package var isAlarming: Bool {
        guard let due, let unheard = unheardAtSixHours else { return false }
        return unheard >= Self.leastAlarming && unheard > due / Self.alarmingShare
    }

    private static let leastAlarming: Int64 = 20
    private static let alarmingShare: Int64 = 20
}

extension DueEnds {
    /// What was counted last.
    /// - Parameter apps: of these alone, by their bundle ids; of all where it is nil.
    /// - Throws: `PostgresError`.
    package func counts(of apps: Set<String>? = nil) async throws -> DueCounts {
        let apps = apps.map { $0.sorted() }
        let parts = DueAge.allCases.map { Part(of: $0).rawValue }
        // In one statement: each instant is that of its numbers.
        let rows = try await pool.query(
            PostgresQuery(
                "due.counts",
                """
                select s.counted_at, coalesce(c.unheard, 0) as unheard, coalesce(c.imported, 0) as imported,
                       d.counted_at as due_counted_at, coalesce(t.due, 0) as due
                  from unnest(\(DueAge.allCases.map(\.rawValue)), \(parts)) with ordinality as a (age, part, place)
                  join storehook.due_count_state s on s.part = a.part
                  join storehook.due_count_state d on d.part = \(Part.due.rawValue)
                 cross join lateral (
                       select sum(k.unheard)::bigint as unheard, sum(k.imported)::bigint as imported
                         from storehook.due_counts k
                        where k.age = a.age and (\(apps == nil) or k.bundle_id = any (\(apps ?? [])))) c
                 cross join lateral (
                       select sum(k.due)::bigint as due from storehook.due_days k
                        where \(apps == nil) or k.bundle_id = any (\(apps ?? []))) t
                 order by a.place
                """))
        var counts = DueCounts(lines: [])
        var importedToday: Int64 = 0
        for (age, row) in zip(DueAge.allCases, rows) {
            let (unheard, imported): (Int64, Int64) = (try row.decode("unheard"), try row.decode("imported"))
            let countedAt = try row.decode("counted_at", as: PostgresTimestamp?.self).map { Timestamp($0) }
            let isCounted = countedAt != nil
            counts.lines.append(
                DueCounts.Line(
                    age: age, unheard: isCounted ? unheard : nil, imported: isCounted ? imported : nil,
                    countedAt: countedAt))
            if age < .day { importedToday += imported }
            guard let dueCountedAt = try row.decode("due_counted_at", as: PostgresTimestamp?.self) else { continue }
            counts.dueCountedAt = Timestamp(dueCountedAt)
            counts.due = try row.decode("due", as: Int64.self)
        }
        counts.due = counts.due.map { max(0, $0 - importedToday) }
        return counts
    }
}

extension DueAge: Comparable {
    /// The least first.
    package static func < (a: DueAge, b: DueAge) -> Bool { a.hours < b.hours }
}
