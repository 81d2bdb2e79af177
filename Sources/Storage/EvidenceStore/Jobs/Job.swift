package import Postgres

/// An act on all dead letters that matched a filter when it was confirmed.
package struct Job: Sendable, Hashable {
    /// What is done. The raw values are stored and sent, so they never change.
    package enum Act: String, Sendable, Hashable, CaseIterable {
        /// Nothing: what a replay would do is worked out.
        case rehearse
        /// The letters go back on the queue.
        case replay
        /// The letters are given up.
        case discard
    }

    /// How far it is. The raw values are stored and sent, so they never change.
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// No worker has begun.
        case waiting
        /// A worker carries it out, or did until it vanished.
        case running
        /// It is done.
        case done
        /// It was stopped before it was done.
        case stopped
        /// It could not be done.
        case failed
    }

    /// Its number.
    package var id: Int64
    /// What is done.
    package var act: Act
    /// What was looked for, as ``DeadLetterFilter/json`` has it.
    package var filter: PostgresJSON
    /// The apps of the staff who asked for it; nil for all.
    package var apps: [String]?
    /// The newest letter when it was confirmed.
    package var upTo: Int64
    /// How many letters are settled a second at most; nil for as many as a worker manages.
    package var perSecond: Int?
    /// How many letters it has.
    package var total: Int
    /// How many were settled.
    package var done: Int
    /// How many had been settled before by other acts.
    package var skipped: Int
    /// How far it is.
    package var state: State
    /// Why it could not be done.
    package var error: String?
    /// What a rehearsal has found, as JSON.
    package var report: PostgresJSON?
    /// Who asked for it, as the audit names them.
    package var actor: String
    /// Why.
    package var why: String?
    /// When it was asked for.
    package var createdAt: PostgresTimestamp
    /// When a worker began.
    package var begunAt: PostgresTimestamp?
    /// When it ended.
    package var endedAt: PostgresTimestamp?
    /// When it was stopped.
    package var stoppedAt: PostgresTimestamp?
    /// Who stopped it.
    package var stoppedBy: String?
    /// Why.
    package var stoppedWhy: String?
    /// Whether ``done`` and ``skipped`` are those of the instant that was asked for: in a list of the past they are not, of a job that was under
    /// way then.
    package var isCounted = true

    static let columns = columns(report: "j.report")

    /// The same without the report, which may be a megabyte.
    static let listedColumns = columns(report: "null::json as report")

    private static func columns(report: String) -> String {
        """
        j.id, j.act, j.filter, j.apps, j.up_to, j.per_second, j.total, j.done, j.skipped, j.state, j.error, \(report), j.actor,
        j.why, j.created_at, j.begun_at, j.ended_at, j.stopped_at, j.stopped_by, j.stopped_why
        """
    }

    init(_ row: PostgresRow) throws {
        id = try row.decode("id")
        act = try row.decode("act", among: Act.self)
        filter = try row.decode("filter")
        apps = try row.decode("apps")
        upTo = try row.decode("up_to")
        perSecond = try row.decode("per_second", as: Int32?.self).map { Int($0) }
        total = Int(try row.decode("total", as: Int32.self))
        done = Int(try row.decode("done", as: Int32.self))
        skipped = Int(try row.decode("skipped", as: Int32.self))
        state = try row.decode("state", among: State.self)
        error = try row.decode("error")
        report = try row.decode("report")
        actor = try row.decode("actor")
        why = try row.decode("why")
        createdAt = try row.decode("created_at")
        begunAt = try row.decode("begun_at")
        endedAt = try row.decode("ended_at")
        stoppedAt = try row.decode("stopped_at")
        stoppedBy = try row.decode("stopped_by")
        stoppedWhy = try row.decode("stopped_why")
    }

    /// Whether nothing more is done.
    package var hasEnded: Bool { endedAt != nil }
}

/// A letter of a job, and what became of it.
package struct JobItem: Sendable, Hashable {
    /// The letter.
    package var letterID: Int64
    /// `done`, or `skipped` where another act had settled it before; nil while it waits.
    package var outcome: String?
    /// When that was.
    package var endedAt: PostgresTimestamp?
    /// Why it is a letter; nil where it is gone by now.
    package var reason: String?
    /// Its type, as it says itself.
    package var type: String?
    /// How the letter stands now; nil where it is gone.
    package var resolution: String?
}

/// Why a job is not made, or not stopped.
package enum JobRefusal: Error, Sendable, Hashable {
    /// Another number of letters matches than was confirmed.
    case changed(matching: Int64)
    /// More letters match than one job may have.
    case tooMany(most: Int64)
    /// More letters are open than are looked through for a job: it would have a part of what matches.
    case unseen(most: Int64)
    /// As many jobs as there may be are still to be carried out.
    case busy
    /// There is no such job, or it is another app's.
    case unknown
    /// It has ended, or was stopped before.
    case over(Job.State)
}
