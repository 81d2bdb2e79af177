import EvidenceStore
import Logging
import Postgres

/// Checks that what is answered 200 survives the loss of the server.
extension DatabaseChecks {
    /// How much of the queue of notices may be taken up.
    private static let noticeTolerance = 0.1

    /// Which of the hosts accepts writes.
    func hosts() async throws -> Finding.Answer {
        var (writable, readOnly, away) = ([] as [String], [] as [String], [] as [String])
        for host in configuration.eachHost {
            let pool = PostgresPool(configuration: host, size: 1, logger: quiet)
            do {
                if try await ServerSurvey(pool).takesWrites() {
                    writable.append("\(host)")
                } else {
                    readOnly.append("\(host)")
                }
            } catch {
                away.append("\(host)")
            }
            await pool.close()
        }
        let standbys = readOnly.isEmpty ? "" : "; \(readOnly.joined(separator: ", ")) only reads (a standby)"
        if !readOnly.isEmpty, let own = configuration.ownSessionAttributes, own != "read-write", own != "primary" {
            return .failed(
                "target_session_attrs=\(own) in DATABASE_URL may lead to what only reads"
                    + "\(standbys): take it out, and the host that takes writes is found")
        }
        switch writable.count {
        case 0:
            return .failed("no host takes writes\(standbys): name the primary in DATABASE_URL, beside its standbys")
        case 1:
            guard away.isEmpty else {
                return .failed(
                    "\(writable[0]) takes writes\(standbys); \(away.joined(separator: ", ")) cannot be reached: start them, or take them out of DATABASE_URL"
                )
            }
            return .ok("\(writable[0]) takes writes\(standbys)")
        default:
            return .failed(
                "\(writable.joined(separator: ", ")) take writes, each by itself: find out which of them is the "
                    + "primary, and take the others out of DATABASE_URL")
        }
    }

    /// Whether a commit that waits for a standby is done within a receiver's deadline.
    func replication() async throws -> Finding.Answer {
        let found = try await survey.replication()
        let waitless = ["off", "local"].contains(found.synchronousCommit)
        let overruled =
            waitless
            ? "; synchronous_commit is \(found.synchronousCommit), which holds for no commit that is acknowledged"
            : ""
        guard !found.standbys.isEmpty else {
            return .ok("commits wait for no standby (synchronous_standby_names is empty)\(overruled)")
        }
        let deadline = min(storeDeadline, found.statementTimeout ?? storeDeadline)
        let place = "synchronous_standby_names is \(found.standbys)\(overruled)"
        if found.connected == 0 {
            return .failed(
                "\(place), and none of them is connected: every commit waits, and posts are answered 503 after "
                    + "\(deadline.age); bring the standby back, or take it out")
        }
        if let lag = found.lag, lag * 2 > deadline {
            return .failed(
                "\(place), which took \(lag) lately: a receiver's deadline of \(deadline) is too short for that, and "
                    + "posts are answered 503; look at the standby and the link to it")
        }
        if deadline < storeDeadline {
            return .failed(
                "\(place), and statement_timeout ends the wait for it after \(deadline): raise it to \(storeDeadline) or "
                    + "more, or posts are answered 503")
        }
        guard found.connected != nil else {
            return .skipped("\(place); how it fares this user may not see")
        }
        return .ok("\(place), within the receivers' deadline of \(deadline)")
    }

    /// Dates that read otherwise than they were written.
    func dateStyle() async throws -> Finding.Answer {
        let style = try await survey.dateStyle()
        guard style.hasPrefix("ISO") else {
            return .failed(
                "\(style): storehook's functions set their own, but what people and scripts read and write may be taken "
                    + "for another day: alter database … set datestyle = 'ISO, YMD'")
        }
        return .ok(style)
    }

    /// Listeners that do not read.
    func notices() async throws -> Finding.Answer {
        let usage = try await survey.noticeQueueUsage()
        let percent = "\(Int((usage * 100).rounded())) % of the server's queue of notices is taken up"
        guard usage <= Self.noticeTolerance else {
            return .failed(
                "\(percent): a session listens within an open transaction; end it (see vacuum horizon). Workers poll "
                    + "meanwhile")
        }
        return .ok(percent)
    }

    /// Bytes that are gone or cannot be read.
    func evidence() async throws -> Finding.Answer {
        let found = try await outbox.unreadableEvidence()
        guard found.withoutBytes == 0 else {
            return .failed(
                "\(found.withoutBytes) rows of the queue are without their bytes: restore the outbox's rows from a backup; "
                    + "storehook queue --conservation")
        }
        guard found.headers == 0, found.waiting == 0 else {
            return .failed(
                "\(found.headers) headers are missing that stored bytes name, and \(found.waiting) notifications wait for "
                    + "them: they come back with the next notification under each that was stored whole, or restore "
                    + "storehook.signature_headers from a backup")
        }
        return .ok("what is to be done has its bytes, and they can be read")
    }

    private var quiet: Logger {
        var logger = Logger(label: "doctor")
        logger.logLevel = .critical
        return logger
    }
}
