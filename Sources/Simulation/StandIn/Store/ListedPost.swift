import Simulator

/// A notification in the stand-in's list, and how posting it went.
struct ListedPost: Sendable {
    /// One attempt.
    struct Attempt: Sendable {
        let instant: Milliseconds
        let result: String
    }

    let notification: UnsignedNotification
    let environment: SimulatedApp.Environment
    var attempts: [Attempt] = []
    /// When it is posted next; nil once it has arrived or was given up.
    var next: Milliseconds?
    var isUnderWay = false

    var hasArrived: Bool { attempts.last?.result == "SUCCESS" }
}
