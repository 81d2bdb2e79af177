package import Base
package import Foundation

/// What asking of one app in one environment came to.
package struct HistoryCheck: Sendable, Hashable {
    /// Whose history.
    package var scope: AppEnvironment
    /// Apple's count.
    package var listed = 0
    /// Of those, in some place here.
    package var held = 0
    /// Of those held, lost on their way and fetched.
    package var recovered = 0
    /// In none.
    package var missing: [UUID] = []
    /// How many are in none, also where they are too many to name.
    package var missingCount = 0
    /// Not Apple's.
    package var refused = 0

    /// Nothing was listed yet.
    package init(scope: AppEnvironment) { self.scope = scope }

    /// Adds what was found in another span of time.
    /// - Parameter most: how many of what is missing are named.
    package mutating func add(_ other: HistoryCheck, naming most: Int) {
        listed += other.listed
        held += other.held
        recovered += other.recovered
        missingCount += other.missingCount
        refused += other.refused
        missing += other.missing.prefix(max(0, most - missing.count))
    }
}
