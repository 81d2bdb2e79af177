import Foundation

/// The person at the keyboard, for the record.
enum Operator {
    /// The person, where an account that several share was taken by sudo; a record for colleagues, not against them.
    static var name: String {
        let environment = ProcessInfo.processInfo.environment
        let person = environment["SUDO_USER"].flatMap { $0.isEmpty ? nil : $0 } ?? NSUserName()
        return "\(person)@\(ProcessInfo.processInfo.hostName)"
    }
}
