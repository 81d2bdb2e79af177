/// Where days begin, in SQL.
enum DayStart {
    /// The first instant of a day. Where midnight comes twice, because the clocks are set back to it, `at time zone` has the second one: the
    /// instant before that is of the same day, and says how much was set back.
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

    /// A condition: whether a row was heard of more than 24 hours after its day had ended. That needs more than 24 hours between both, which
    /// an index knows.
    /// - Parameters:
    ///   - heard: an expression of when it was heard of.
    ///   - at: an expression of when it happened.
    ///   - zone: an expression of the zone's name.
    static func isLate(_ heard: String, _ at: String, in zone: String) -> String {
        """
        \(heard) - \(at) > interval '24 hours'
        and \(heard) > \(sql("(\(at) at time zone \(zone))::date + 1", in: zone)) + interval '24 hours'
        """
    }

    /// A query: the days of which something changed that is not summed yet. An hour may lie in two.
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
