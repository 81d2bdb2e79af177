import Base

/// How long ago something was due, in classes. The names are those of `storehook_due_unheard{age}`.
package enum DueAge: String, Sendable, Hashable, CaseIterable, JSONConvertible {
    /// One hour to six.
    case hour = "1h"
    /// Six hours to a day.
    case sixHours = "6h"
    /// One day to three.
    case day = "24h"
    /// Three days to a week.
    case threeDays = "3d"
    /// A week to sixty days: by then Apple itself has given up what is not paid.
    case older

    /// The least age, in hours.
    var hours: Int32 {
        switch self {
        case .hour: 1
        case .sixHours: 6
        case .day: 24
        case .threeDays: 72
        case .older: 168
        }
    }

    /// The age, in hours, from which on nothing is counted: Apple tries to charge for sixty days.
    static let end: Int32 = 1440

    /// An SQL expression: the name of the class that an interval is in.
    static func name(of interval: String) -> String {
        let (names, bounds) = (
            allCases.map { "'\($0.rawValue)'" }, allCases.map { "interval '\($0.hours) hours'" }
        )
        return
            "(array[\(names.joined(separator: ", "))])[width_bucket(\(interval), array[\(bounds.joined(separator: ", "))])]"
    }
}
