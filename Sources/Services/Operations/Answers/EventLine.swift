import Accounts
import AppStorePayloads
import Base
package import EventStore

/// An event for people: a line, in columns that stay where they are while more of them come.
package struct EventLine: Sendable {
    private let event: PlacedEvent

    /// The line of an event.
    package init(_ event: PlacedEvent) { self.event = event }

    /// The columns' names.
    package static let head = line("CURSOR", "AT", "EVENT", "ENVIRONMENT", "NUMBER", "OF")

    /// The line.
    package var text: String {
        let whose = [event.account ?? event.token.map { AccountIdentity(token: $0).name }, event.originalTransactionID]
            .compactMap(\.self)
        return Self.line(
            "\(event.position)", "\(event.at)", event.kind, event.environment, "\(event.sequence)",
            whose.joined(separator: ", "))
    }

    private static func line(
        _ cursor: String, _ at: String, _ kind: String, _ environment: String, _ number: String, _ whose: String
    ) -> String {
        func left(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(0, width - text.count))
        }
        func right(_ text: String, _ width: Int) -> String {
            String(repeating: " ", count: max(0, width - text.count)) + text
        }
        return [right(cursor, 8), left(at, 24), left(kind, 36), left(environment, 12), right(number, 6), whose]
            .joined(separator: "  ")
    }
}
