import Base

/// A notification in the stand-in's list, and how posting it went.
struct ListedPost: Sendable {
    /// One attempt.
    struct Attempt: Sendable, Hashable, Codable {
        let instant: Milliseconds
        let result: String
    }

    let notification: UnsignedNotification
    let environment: SimulatedApp.Environment
    var attempts: [Attempt] = []
    /// When it is posted next; nil once it has arrived or was given up.
    var next: Milliseconds?
    /// Not saved: a post that was under way when the stand-in ended is posted again.
    var isUnderWay = false

    var hasArrived: Bool { attempts.last?.result == "SUCCESS" }
}
