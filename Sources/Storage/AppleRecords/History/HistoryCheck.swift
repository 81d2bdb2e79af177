package import Base
package import Foundation

/// What asking of one app in one environment came to.
package struct HistoryCheck: Sendable, Hashable {
    /// The app and environment.
    package var scope: AppEnvironment
    /// Apple's count.
    package var listed: Int
    /// Of those, in some place here.
    package var held: Int
    /// Of those held, lost on their way and fetched.
    package var recovered: Int
    /// In none.
    package var missing: [UUID]
    /// How many are in none, also where they are too many to name.
    package var missingCount: Int
    /// Not Apple's.
    package var refused: Int

    /// A check; nothing was listed by default.
    package init(
        scope: AppEnvironment, listed: Int = 0, held: Int = 0, recovered: Int = 0, missing: [UUID] = [],
        missingCount: Int = 0, refused: Int = 0
    ) {
        self.scope = scope
        self.listed = listed
        self.held = held
        self.recovered = recovered
        self.missing = missing
        self.missingCount = missingCount
        self.refused = refused
    }

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
