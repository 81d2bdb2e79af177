import Foundation

/// What one launch of the example wrote: lines of a name and a value, and others.
struct ClientOutput: CustomStringConvertible {
    let text: String
    let errors: String

    var description: String { text + errors }

    /// The value of the last line with this name; empty where there is none.
    func value(_ name: String) -> String {
        text.split(separator: "\n").last { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
            ?? ""
    }

    /// The value of such a line, as an instant.
    func instant(_ name: String) -> Date? { ISO8601DateFormatter().date(from: value(name)) }
}
