extension MetricFamily {
    /// Every metric of storehook's. What is not listed here is not exposed.
    public static let storehook: [MetricFamily] =
        queue + receiving + processing + handingIn + asking + delivering + serving + surroundings

    private static let queue = [
        MetricFamily(
            "storehook_queue_depth", .gauge,
            "Notifications in the queue by state, the same for every process; missing while the database is unavailable."
        ),
        MetricFamily(
            "storehook_queue_refused", .gauge,
            """
            Notifications that wait because PostgreSQL refuses to have them settled, by its code's class; no series while none does. The \
            same for every worker.
            """),
        MetricFamily(
            "storehook_queue_oldest_age_seconds", .gauge,
            "Since when the oldest notification of each state has been stored; 0 where there is none."),
    ]

    private static let receiving = [
        MetricFamily(
            "storehook_received_total", .counter, "Posts by what was answered: stored is 200, the rest was refused."),
        MetricFamily(
            "storehook_store_seconds", .histogram(bounds: milliseconds),
            "How long a commit of posted notifications took."),
        MetricFamily(
            "storehook_store_size", .histogram(bounds: sizes), "Notifications stored by one commit."),
        MetricFamily("storehook_open_connections", .gauge, "Connections that others hold open to this program."),
        MetricFamily(
            "storehook_bounded_connections_total", .counter,
            """
            Connections that were refused or cut off, by what bounded them: connections and address by their number, silence, \
            head and time by what a sender did, bytes by what waits already.
            """),
    ]

    private static let processing = [
        MetricFamily(
            "storehook_processed_total", .counter,
            "Settled notifications by type and by what became of them; a type that this release does not know is other."
        ),
        MetricFamily(
            "storehook_retries_total", .counter,
            "Notifications put off to be tried again, by reason; SQLSTATEs by their class."),
        MetricFamily(
            "storehook_dead_letters_total", .counter,
            "Notifications that ended as dead letters, by category and reason; SQLSTATEs by their class."),
        MetricFamily(
            "storehook_lost_leases_total", .counter, "Claimed notifications that another worker took over meanwhile."),
        MetricFamily(
            "storehook_receipt_to_commit_seconds",
            .histogram(bounds: milliseconds + [10, 30, 60, 300, 900, 3600, 21_600]),
            "From stored to applied, by the database's clock."),
        // Apple tries again after 1, 12, 24, 48 and 72 hours, each counted from the try before it: the bounds beyond half an
        // hour show which try it was. (App Store Server Notifications, "Responding to App Store Server Notifications")
        MetricFamily(
            "storehook_signed_to_receipt_seconds",
            .histogram(
                bounds: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200, 54_000, 144_000, 320_000, 604_800]),
            "From Apple's signature to stored: Apple's part of the way, and what their clock and ours disagree in."),
        MetricFamily(
            "storehook_verify_seconds",
            .histogram(
                bounds: [0.0001, 0.0002, 0.0003, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.1, 1]),
            "How long one notification with all its parts took to verify, or to refuse."),
        MetricFamily("storehook_batch_size", .histogram(bounds: sizes), "Notifications claimed at a time."),
        MetricFamily(
            "storehook_chain_cache_total", .counter,
            "Certificate chains looked up, by whether they had been found valid before."),
    ]

    private static let handingIn = [
        MetricFamily(
            "storehook_handed_in_total", .counter,
            "Signed records that apps handed in, by kind and by what became of them; none of them is ever in the queue."
        ),
        MetricFamily(
            "storehook_handed_in_refused_total", .counter, "Of those, what did not verify, by reason; it is not stored."
        ),
        MetricFamily(
            "storehook_handed_in_seconds", .histogram(bounds: milliseconds),
            "How long verifying and applying took for one call, its commit included."),
    ]

    private static let asking = [
        MetricFamily(
            "storehook_apple_calls_total", .counter,
            "Calls of the App Store Server API, and of verifyReceipt, by what became of them; one call may take several requests."
        ),
        MetricFamily(
            "storehook_apple_forged_total", .counter,
            "Signed records in Apple's answers that do not verify, by reason: they are not stored."),
        MetricFamily(
            "storehook_history_proven_seconds", .gauge,
            """
            How long ago the instant lies up to which everything in Apple's notification history is held, the same for every \
            worker; while nothing is proven, how far back there is to prove.
            """),
        MetricFamily(
            "storehook_history_windows", .gauge,
            """
            Spans of Apple's notification history: proven, unproven, and of those refused, which list what Apple did not sign.
            """),
        MetricFamily(
            "storehook_history_listed_total", .counter, "Notifications that Apple's history listed when it was asked."),
        MetricFamily(
            "storehook_history_recovered_total", .counter,
            "Of those, lost on their way and fetched; what was stored by the command storehook reconcile is not counted."
        ),
        MetricFamily(
            "storehook_history_refused_total", .counter, "Entries of Apple's history that Apple did not sign."),
        MetricFamily("storehook_events_total", .counter, "Events that this worker has written, by kind."),
        MetricFamily(
            "storehook_events_postponed_total", .counter,
            "What was due to be reported and could not be: put off for an hour, and said in the log."),
        MetricFamily(
            "storehook_events_unplaced", .gauge,
            "Events that no reader sees so far, since they have no place in the order; the same for every worker."),
        MetricFamily(
            "storehook_events_due_seconds", .gauge,
            "How long ago what is due first to be reported was due; 0 where nothing is. The same for every worker."),
        MetricFamily(
            "storehook_unsold_products", .gauge,
            """
            Products that customers hold and that the current catalog lacks, by app and environment: they paid, and get nothing. No \
            series where there is none; the same for every worker.
            """),
        MetricFamily(
            "storehook_due_unheard", .gauge,
            """
            Renewals, ends of trials, grace and retries in Production that nothing was heard of, by how long ago they were due: 1h is one \
            hour to six, older a week to sixty days. Counted every few minutes, the same for every worker.
            """),
        MetricFamily(
            "storehook_due_lines", .gauge,
            "How many were due from a day to an hour ago, heard of or not; counted every half hour, the same for every worker."
        ),
        MetricFamily(
            "storehook_canary_missing_seconds", .gauge,
            """
            How long ago Apple was asked for a test notification that has not come through, the same for every worker; 0 while \
            the last one did.
            """),
        MetricFamily(
            "storehook_canaries_total", .counter, "Test notifications that Apple was asked for, by what became of them."
        ),
        MetricFamily(
            "storehook_canary_seconds", .histogram(bounds: [0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120, 300, 900]),
            "From asking Apple for a test notification until it was posted (by Apple's clock), stored and applied."),
        MetricFamily(
            "storehook_extensions_open", .gauge,
            "Extensions of renewal dates that are not finished, of one or of all, by state; the same for every worker."),
        MetricFamily(
            "storehook_extensions_oldest_age_seconds", .gauge,
            """
            How long the oldest of them has been waited for: since it was wanted, since Apple took it on, since Apple was done \
            with all.
            """),
        MetricFamily(
            "storehook_extensions_total", .counter,
            "Extensions of renewal dates that came to their end by a worker, by what became of them."),
        MetricFamily(
            "storehook_consumption_open", .gauge,
            "Apple's requests for consumption data that are not settled, the same for every worker."),
        MetricFamily(
            "storehook_consumption_deadline_seconds", .gauge,
            """
            Until the first deadline of a request for consumption data that has a consent and a rule and is not answered; missing \
            while there is none.
            """),
        MetricFamily(
            "storehook_consumption_requests_total", .counter,
            "Apple's requests for consumption data that were settled, by what became of them."),
        MetricFamily(
            "storehook_refreshes_total", .counter,
            "Purchases that records contradict and that Apple was asked about, by what came of it."),
    ]

    private static let delivering = [
        MetricFamily(
            "storehook_deliveries_total", .counter,
            "Events posted to endpoints, by endpoint and by what a call came to: delivered, failed, or dead, which is given up."
        ),
        MetricFamily(
            "storehook_delivery_seconds", .histogram(bounds: milliseconds + [10, 30, 60, 300, 1800, 21_600]),
            "From the beginning of the transaction that caused an event until an endpoint took it."),
        MetricFamily(
            "storehook_delivery_call_seconds", .histogram(bounds: milliseconds + [10, 15]),
            "How long a call of an endpoint took."),
        MetricFamily(
            "storehook_events_dealt_total", .counter,
            "Events that this worker has gone through for an endpoint, its own or not."),
        MetricFamily(
            "storehook_deliveries_oldest_age_seconds", .gauge,
            "Since when the oldest event has been written that an endpoint has not got; 0 where there is none. The same for every worker."
        ),
        MetricFamily(
            "storehook_deliveries_waiting", .gauge,
            "Accounts with an event that waits for an endpoint, the same for every worker."),
        MetricFamily(
            "storehook_deliveries_dead", .gauge,
            "Deliveries that were given up and not put back, by endpoint, the same for every worker."),
        MetricFamily(
            "storehook_endpoint_up", .gauge,
            "1 where an endpoint is called, 0 where it is paused because it fails, or disabled; the same for every worker."
        ),
    ]

    private static let serving = [
        MetricFamily(
            "storehook_api_requests_total", .counter,
            "Requests to the account API by endpoint and status; none is what reached no endpoint."),
        MetricFamily(
            "storehook_api_seconds", .histogram(bounds: [0.0002, 0.0005] + milliseconds),
            "How long a request to the account API took, from its head to its answer."),
        MetricFamily(
            "storehook_api_refused_tokens_total", .counter,
            "Tokens that were not accepted, by reason; missing is a request without one."),
        MetricFamily(
            "storehook_api_limited_total", .counter,
            "Requests that were answered 429, because an address or an account asked too often."),
        MetricFamily(
            "storehook_api_key_readings_total", .counter,
            "Times that the keys of tokens were read, by whether that brought any."),
        MetricFamily(
            "storehook_api_token_keys", .gauge,
            "Keys that tokens are checked with; 0 where their source has withdrawn all, or was never read."),
        MetricFamily(
            "storehook_api_token_keys_stale_since_seconds", .gauge,
            "Since when the source of those keys holds something else, or cannot be read, in seconds since 1970; 0 where it is good."
        ),
        MetricFamily(
            "storehook_console_requests_total", .counter,
            "Requests to the console's pages by page and status; none is what reached no page."),
        MetricFamily(
            "storehook_console_seconds", .histogram(bounds: milliseconds),
            "How long a page of the console took, from the request's head to its answer."),
        MetricFamily(
            "storehook_console_logins_total", .counter,
            "Logins at the console by outcome: done, wrong, limited, busy."),
    ]

    private static let surroundings = [
        MetricFamily(
            "storehook_database_errors_total", .counter,
            """
            Statements and transactions that failed, by class of SQLSTATE; 08 also where no connection could be made, \
            timeout where the deadline passed here, client where the answer was not understood.
            """),
        MetricFamily(
            "storehook_database_up", .gauge, "1 if the database answered the last question asked for this page."),
        MetricFamily(
            "storehook_database_prepared_seconds", .gauge,
            "Since when the oldest prepared transaction of the database waits for its end; 0 where there is none."),
        MetricFamily(
            "storehook_database_slot_bytes", .gauge,
            "The most WAL that the server keeps for one replication slot that no standby reads; 0 where there is none."),
        MetricFamily(
            "storehook_database_slot_transactions", .gauge,
            """
            The most transactions since what one replication slot that no standby reads keeps VACUUM from removing; 0 where there is \
            none.
            """),
        MetricFamily(
            "storehook_schema_mismatch", .gauge,
            "1 if the database's schema is not the one that this process was built for; missing where that is not known."
        ),
        MetricFamily(
            "storehook_anomalies", .gauge,
            """
            What the records of purchases do not explain, by kind, the same for every worker: status_contradicted, \
            period_missing and upgrade_missing mean that something was lost, or that a rule is wrong.
            """),
        MetricFamily(
            "storehook_log_lines_dropped_total", .counter,
            "Lines of this program's log that were dropped, because its standard error was not read in time."),
        MetricFamily(
            "storehook_build_info", .gauge,
            "Always 1: the program, its version and commit, and the schema that it was built for."),
        MetricFamily("process_cpu_seconds_total", .counter, "User and system time that this process has used."),
        MetricFamily("process_resident_memory_bytes", .gauge, "Memory that this process holds."),
        MetricFamily("process_open_fds", .gauge, "File descriptors that this process holds."),
        MetricFamily("process_start_time_seconds", .gauge, "When this process was started, in seconds since 1970."),
    ]

    /// Upper bounds for what takes milliseconds while all is well.
    private static let milliseconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
    private static let sizes: [Double] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
}
