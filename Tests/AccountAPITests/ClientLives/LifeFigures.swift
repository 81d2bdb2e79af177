/// What a life came to.
struct LifeFigures: Sendable {
    var acts = 0
    var launches = 0
    var purchases = 0
    var allowed = 0
    /// How often the app allowed what the server did not, because the App Store holds it; likewise what was kept.
    var byStore = 0
    var byCache = 0
    /// How often the app allowed nothing though the server would, for it was not asked.
    var behind = 0
    var takenBack = 0
    var failures = 0

    static func += (one: inout LifeFigures, other: LifeFigures) {
        one.acts += other.acts
        one.launches += other.launches
        one.purchases += other.purchases
        one.allowed += other.allowed
        one.byStore += other.byStore
        one.byCache += other.byCache
        one.behind += other.behind
        one.takenBack += other.takenBack
        one.failures += other.failures
    }
}
