import AccountStore
import Base
import EventStore
package import EvidenceStore
import HTTPKit
package import Logging
package import Postgres
import ServiceLifecycle

/// Runs maintenance beside a worker: creates partitions of the outbox and of events ahead of time, drops old ones, and
/// drops expired usage, histories and deliveries.
///
/// Every worker process runs it about once an hour, never two at a time. The database and its clock decide what is due.
/// So no cron job is needed: where a worker runs, the partitions exist.
package struct MaintenanceService: Service {
    private let pool: PostgresPool
    private let retention: Retention
    private let served: ServedApps?
    private let interval: Duration
    private let logger: Logger

    /// Maintenance of all that is not kept for good in a database.
    /// - Parameters:
    ///   - served: the apps the worker serves, recorded each round.
    ///   - interval: between two rounds, give or take a quarter, so that many workers do not run at the same time.
    package init(
        of pool: PostgresPool, retention: Retention, served: ServedApps? = nil, interval: Duration = .seconds(3600),
        logger: Logger
    ) {
        self.pool = pool
        self.retention = retention
        self.served = served
        self.interval = interval
        self.logger = logger
    }

    /// One round at once and then one each interval, until graceful shutdown. A round under way then is rolled back.
    package func run() async throws {
        await repeatUntilShutdown(pause: { interval.jittered }) { await round() }
    }

    /// What fails is said and tried again next time: a worker is not to end because an old partition is in use.
    private func round() async {
        do {
            if let served { try await Outbox(pool).record(served) }
        } catch {
            logger.warning("Could not record whom this worker serves; trying again", metadata: ["error": "\(error)"])
        }
        do {
            let round = try await MaintenanceRound(pool, retention)
            let report = round.outbox
            if report.made > 0 { logger.info("Made partitions ahead", metadata: ["count": "\(report.made)"]) }
            if report.expired > 0 {
                logger.info("Gave up letters that did not verify", metadata: ["count": "\(report.expired)"])
            }
            if round.eventDaysDropped > 0 {
                logger.info(
                    "Dropped days of events, by the retention settings",
                    metadata: ["count": "\(round.eventDaysDropped)"])
            }
            if report.settled > 0 {
                logger.debug("Counted days for the books", metadata: ["count": "\(report.settled)"])
            }
            if round.usage != UsageUpkeep() {
                logger.debug(
                    "Threw away what is over of usage",
                    metadata: ["counters": "\(round.usage.counters)", "keys": "\(round.usage.keys)"])
            }
            if round.histories != HistoryUpkeep() {
                logger.debug(
                    "Threw away old attempts and consents",
                    metadata: [
                        "attempts": "\(round.histories.attempts)", "consents": "\(round.histories.consents)",
                        "budgets": "\(round.histories.budgets)",
                    ])
            }
            if round.deliveries != DeliveryUpkeep() {
                logger.debug(
                    "Threw away old deliveries",
                    metadata: [
                        "deliveries": "\(round.deliveries.deliveries)", "endpoints": "\(round.deliveries.endpoints)",
                    ])
            }
            for day in report.days {
                let metadata: Logger.Metadata = [
                    "day": "\(day.day)", "dropped": "\(day.gone)", "kept": "\(day.kept)",
                ]
                switch day.outcome {
                case .dropped: logger.info("Dropped the bytes of a day, by the retention settings", metadata: metadata)
                case .postponed:
                    logger.warning(
                        "Could not drop a day: somebody reads the outbox without a pause; trying again later",
                        metadata: metadata)
                case .stays, .busy, .failed: logger.debug("Left a day as it is: \(day.outcome)", metadata: metadata)
                }
            }
            for failure in report.failures {
                logger.warning(
                    "A step of the maintenance failed; trying again later",
                    metadata: ["step": "\(failure.step)", "error": "\(failure.error)"])
            }
        } catch {
            if Task.isCancelled { return }
            logger.warning("Maintenance failed; trying again later", metadata: ["error": "\(error)"])
        }
    }
}
