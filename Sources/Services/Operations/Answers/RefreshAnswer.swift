import AppStorePayloads
import Base
package import Pipeline

/// What asking for a purchase brought, as people and scripts see it.
package struct RefreshAnswer: Encodable, Sendable {
    private let environment: String
    private let answered: Int
    private let stored: Int
    private let refused: Int

    /// Whether everything in Apple's answers was Apple's.
    package var isComplete: Bool { refused == 0 }

    /// An answer.
    package init(_ report: PurchaseRefresh.Report) {
        environment = report.environment.rawValue
        answered = report.answered
        stored = report.stored
        refused = report.refused
    }

    /// For people.
    package var text: String {
        "\(environment): Apple answered with \(answered) signed records, \(stored) were stored and wait for a worker"
            + (refused == 0 ? "" : "; \(refused) more are not Apple's and were not looked at")
    }
}
