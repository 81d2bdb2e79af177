import Foundation

/// Who is at the keyboard, for the record.
enum Operator {
    static var name: String { "\(NSUserName())@\(ProcessInfo.processInfo.hostName)" }
}
