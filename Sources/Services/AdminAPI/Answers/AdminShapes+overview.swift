import Base
import EvidenceStore
import Postgres

extension AdminShapes {
    /// How the pipeline stands.
    static let overview = Shape<ShownOverview, Void>(
        "OverviewNow",
        [
            .init("asOf", "When a worker wrote it down; null where none had. A worker does each five seconds.") {
                $0.sample?.at
            },
            .init("now", "The database's clock when it was read.") { $0.latest.now },
            .init(
                "isCurrent",
                "False where it is older than half a minute: no worker runs, or none reaches the database. Of an instant of the past, whether one did then."
            ) {
                $0.latest.isCurrent
            },
            .nullable("work", overviewWork, about: "What was done up to asOf.") { $0.sample },
            .list(
                "queue", overviewQueue, about: "Evidence by state: ready, scheduled, leased, dead. Empty before asOf."
            ) {
                $0.sample?.queue.map { QueueLine(state: $0.state, counted: $0.counted) } ?? []
            },
            .nullable("deadLetters", overviewCounted, about: "Those that wait for somebody to decide.") {
                $0.sample?.dead
            },
            .nullable("eventsBehind", overviewEvents) { $0.sample },
            .nullable("deliveries", overviewDeliveries) { $0.sample?.deliveries },
            .list("apps", overviewApp, about: "Those of the member's apps, in their environments.") { $0.apps },
            .list(
                "lapsedLeases", overviewLapsed,
                about: "Leases that have run out and that nobody took over yet, 20 at most."
            ) {
                $0.latest.detail?.lapsed ?? []
            },
            .list("jobs", overviewJob, about: "Jobs that are not done yet, and how far each is; none with at.") {
                $0.jobs
            },
            .init("detailAsOf", "When apps and lapsedLeases were read: each half minute. Null where they were not.") {
                $0.latest.detail?.at
            },
        ])

    /// With the rows of the ring.
    static let overviewWithSeries = overview.after([], named: "Overview") { (shown: ShownOverviewWithSeries) in
        shown.overview
    }
    .changed(
        named: "Overview",
        adding: [
            .list("hour", overviewPoint, about: "A point each five seconds, or more seldom, of the last hour.") {
                $0.hour
            },
            .list(
                "day", overviewPoint,
                about: "A point each five minutes of the last day: sums, and the highest of what stood."
            ) {
                $0.day
            },
            .init("ringBegins", "With at, the oldest row there is; null without any, and without at.") {
                $0.overview.latest.begins
            },
        ])

    /// A state of the queue.
    private struct QueueLine: Sendable {
        let state: QueueState
        let counted: OverviewSample.Counted
    }

    private static let overviewCounted = Shape<OverviewSample.Counted, Void>("Counted", overviewCountedFields)

    private static let overviewCountedFields: [Shape<OverviewSample.Counted, Void>.Field] = [
        .init("count", "10,000 at most.") { $0.count },
        .init("isMore", "Whether there are more than that.") { $0.isMore },
        .init("oldestAgeSeconds", "Since the oldest of those that were counted was received; 0 where there is none.") {
            $0.oldestAge.components.seconds
        },
    ]

    private static let overviewQueue = Shape<OverviewSample.Counted, Void>(nil, overviewCountedFields).after(
        [.init("state", .choice(QueueState.allCases.map(\.rawValue))) { .string($0.state.rawValue) }],
        named: "QueueLine"
    ) { (line: QueueLine) in line.counted }

    private static let overviewDelay = Shape<OverviewSample.Delay, Void>(
        "MeasuredDelay",
        [
            .init("count") { $0.count }, .init("meanMilliseconds") { $0.mean },
            .init("longestMilliseconds") { $0.longest },
        ])

    private static let overviewWork = Shape<OverviewSample, Void>(
        "OverviewWork",
        [
            .init("milliseconds", "How long it took: what was done divided by this is a rate.") {
                Int64($0.span / .milliseconds(1))
            },
            .init("received", "Evidence that was stored; 20,000 at most.") { $0.received.count },
            .init("isMoreReceived", "Whether more than that was.") { $0.received.isMore },
            .init("applied", "Evidence that was applied, or parked.") { $0.recorded },
            .init("receivedPerSecond", "What was received, a second, rounded; null where that took no time.") {
                $0.perSecond($0.received.count)
            },
            .init("appliedPerSecond", "The same of what was applied.") { $0.perSecond($0.recorded) },
            .init("duplicates", "Evidence that was known already.") { $0.duplicates },
            .init("buried", "Evidence that became dead letters.") { $0.buried },
            .nested(
                "apple", overviewDelay, about: "What Apple takes: from its signature to the receipt, of what it posted."
            ) {
                $0.apple
            },
            .nested(
                "own", overviewDelay, about: "What storehook takes: from the receipt to the commit that applied it."
            ) {
                $0.own
            },
        ])

    private static let overviewEvents = Shape<OverviewSample, Void>(
        "EventsBehind",
        [
            .init("unplaced", "Events that were written and have no place in the feed yet; 10,000 at most.") {
                $0.unplacedEvents.count
            },
            .init("dueSeconds", "Since an event that only time causes was due; 0 where none is late.") {
                $0.eventAge.components.seconds
            },
        ])

    private static let overviewDeliveries = Shape<OverviewSample.Deliveries, Void>(
        "OverviewDeliveries",
        [
            .init("endpoints") { $0.endpoints }, .init("paused", "Of these, paused because they fail.") { $0.paused },
            .init("disabled") { $0.disabled },
            .init("behind", "The most events that an endpoint has not been dealt yet.") { $0.behind },
            .nested("waiting", overviewCounted, about: "Accounts and purchases with something to deliver.") {
                $0.waiting
            },
            .nested("dead", overviewCounted, about: "Deliveries that were given up and not sent again.") { $0.dead },
        ])

    private static let overviewApp = Shape<OverviewDetail.App, Void>(
        "OverviewApp",
        [
            .init("app") { $0.bundleID }, .init("environment", Environment.schema) { .string($0.environment) },
            .init("provenUntil", "Up to when nothing that Apple lists is missing; null without proof.") {
                $0.provenUntil
            },
            .init("canaryAppliedAt", "The last test notification that came through; null where none did.") {
                $0.canaryAppliedAt
            },
            .init("canaryMissingSince", "Since when they do not; null where they do, or none is asked for.") {
                $0.canaryMissingSince
            },
            .init("canaryOutcome") { $0.canaryOutcome },
        ])

    private static let overviewJob = Shape<OverviewStore.OpenJob, Void>(
        "OpenJob",
        [
            .init("id", "Its number.") { $0.id }, .init("act", jobActs) { .string($0.act.rawValue) },
            .init("state", jobStates) { .string($0.state.rawValue) }, .init("total") { $0.total },
            .init("done") { $0.done }, .init("skipped") { $0.skipped },
        ])

    private static let overviewLapsed = Shape<OverviewDetail.LapsedLease, Void>(
        "LapsedLease",
        [.init("worker", "Its host, process and name.") { $0.worker }, .init("since") { $0.since }])

    private static let overviewPoint = Shape<OverviewSample, Void>(
        "OverviewPoint",
        [
            .init("at") { $0.at }, .init("milliseconds") { Int64($0.span / .milliseconds(1)) },
            .init("received") { $0.received.count }, .init("applied") { $0.recorded },
            .init("ready") { $0.ready.count }, .init("dead") { $0.dead.count },
            .init("oldestAgeSeconds", "Of what is ready.") { $0.ready.oldestAge.components.seconds },
            .init("appleMilliseconds", "The mean; null where Apple posted nothing.") { $0.apple.mean },
            .init("ownMilliseconds", "The mean; null where nothing was applied.") { $0.own.mean },
            .init("eventsDueSeconds") { $0.eventAge.components.seconds },
            .init("deliveriesBehind") { $0.deliveries.behind },
        ])
}
