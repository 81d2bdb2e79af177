/// Where days begin, in SQL.
enum DayStart {
    /// The first instant of a day. Midnight comes twice where clocks are set back to it, and `at time zone` gives the second one. The instant
    /// before the second one is then of the same day, and states by how much the clocks were set back.
    /// - Parameters:
    ///   - day: an expression of type date.
    ///   - zone: an expression of the zone's name.
    static func sql(_ day: String, in zone: String) -> String {
        let midnight = "(\(day))::timestamp"
        let instant = "(\(midnight) at time zone \(zone))"
        let step = "interval '1 microsecond'"
        return
            "(\(instant) - greatest(((\(instant) - \(step)) at time zone \(zone)) + \(step) - \(midnight), interval '0'))"
    }

    /// A condition: whether a row arrived more than 24 hours after its day had ended. More than 24 hours between the two instants is a condition
    /// of its own: an index has it.
    /// - Parameters:
    ///   - heard: an expression of the instant of arrival.
    ///   - at: an expression of the row's own instant.
    ///   - zone: an expression of the zone's name.
    static func isLate(_ heard: String, _ at: String, in zone: String) -> String {
        """
        \(heard) - \(at) > interval '24 hours'
        and \(heard) > \(sql("(\(at) at time zone \(zone))::date + 1", in: zone)) + interval '24 hours'
        """
    }

    /// A query: the days with changes that are not summed yet. A marked hour may belong to two days.
    static func marked(in zone: String) -> String {
        """
        select day from storehook.figure_marks where day is not null
        union
        select (i.at at time zone \(zone))::date
          from (select distinct hour from storehook.figure_marks where hour is not null) m
         cross join lateral (values (m.hour), (m.hour + interval '59 minutes 59.999999 seconds')) i (at)
        """
    }
}
