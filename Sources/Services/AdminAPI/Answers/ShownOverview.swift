import Base
import EvidenceStore
import Postgres
import Staff

/// How the pipeline stands, as a member of the staff sees it.
struct ShownOverview: Sendable {
    /// The latest row of the ring.
    let latest: OverviewStore.Latest
    /// The apps that are the member's to see.
    let apps: [OverviewDetail.App]
    /// Likewise, the jobs that are not done yet.
    let jobs: [OverviewStore.OpenJob]

    init(_ latest: OverviewStore.Latest, to scope: StaffScope) {
        self.latest = latest
        apps = (latest.detail?.apps ?? []).filter { scope.sees(app: $0.bundleID) }
        jobs = latest.jobs.filter { scope.sees(jobOf: $0.apps) }
    }

    /// What a reader has who was sent it: the same again is no news.
    var news: News { News(at: sample?.at, jobs: jobs) }

    /// What changes in an overview.
    struct News: Sendable, Hashable {
        /// When its row was written.
        let at: PostgresTimestamp?
        /// The jobs.
        let jobs: [OverviewStore.OpenJob]
    }

    /// The row; nil before any worker has written one.
    var sample: OverviewSample? { latest.sample }
}

/// The overview with the rows of the last hour and of the last day.
struct ShownOverviewWithSeries: Sendable {
    /// How it stands.
    let overview: ShownOverview
    /// A row each five seconds.
    let hour: [OverviewSample]
    /// A row each five minutes.
    let day: [OverviewSample]
}

extension StaffScope {
    /// Whether a job is to be seen: one that staff of all apps asked for is theirs alone.
    func sees(jobOf apps: [String]?) -> Bool {
        self == .all || apps.map { isSuperset(of: Set($0)) } ?? false
    }
}

extension OverviewSample {
    /// A number of its span as a rate, rounded half up; nil where the span is empty.
    func perSecond(_ count: Int64) -> Int64? {
        let milliseconds = Int64(span / .milliseconds(1))
        return milliseconds > 0 ? (count * 1000 + milliseconds / 2) / milliseconds : nil
    }
}
