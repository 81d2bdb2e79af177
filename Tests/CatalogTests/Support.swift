import Accounts
import AppStorePayloads
import Base
import Foundation
import TestSupport

/// The catalogs of deploy/catalogs.
enum Example: String, CaseIterable {
    case tiersAndLimits = "tiers-and-limits"
    case freeAndLifetime = "free-and-lifetime"
    case monthlyQuarterlyYearly = "monthly-quarterly-yearly"
    case monthAndYear = "month-and-year"
    case simulator

    static let directory = packageRoot.appending(path: "deploy/catalogs")

    /// The file's text.
    func text() throws -> String {
        try String(contentsOf: Self.directory.appending(path: "\(rawValue).yaml"), encoding: .utf8)
    }

    func catalog() throws -> Catalog { try Catalog(yaml: text()) }
}

/// An instant that has to be one.
func instant(_ text: String) throws -> Timestamp {
    struct NoInstant: Error { var text: String }
    guard let instant = Timestamp(iso8601: text) else { throw NoInstant(text: text) }
    return instant
}
