import Foundation
import Postgres

#if canImport(Glibc)
    import Glibc
#endif

extension DatabaseChecks {
    /// Less than this share of the disk, or less than a gibibyte, is too little to be left: VACUUM, sorts and WAL need some.
    private static let leastShare = 0.05
    private static let leastBytes: UInt64 = 1 << 30
    /// A pin whose age in seconds is unknown counts as old from so many transaction ids on.
    private static let manyTransactions: Int64 = 100_000
    /// From so much WAL on a slot without a reader is a fault, in bytes.
    private static let muchWAL: Int64 = 1 << 30

    func server() async throws -> Finding.Answer {
        let version = try await survey.version()
        let served = "\(ServerVersion.served.lowerBound) to \(ServerVersion.served.upperBound) are served"
        return switch version.standing {
        case .tested: .ok("PostgreSQL \(version)")
        case .untested:
            .ok(
                "PostgreSQL \(version), which is served and not tested: "
                    + "\(ServerVersion.tested.map(String.init).joined(separator: ", ")) are")
        case .unserved: .failed("PostgreSQL \(version): \(served); move the database to one of them")
        }
    }

    func disk() async throws -> Finding.Answer {
        let (size, directory) = try await survey.storage()
        let used = "the database takes \(Self.gibibytes(UInt64(clamping: size)))"
        guard let directory, let room = Self.room(at: directory) else {
            return .skipped("\(used); what is left cannot be seen from here")
        }
        let left = "\(Self.gibibytes(room.free)) of \(Self.gibibytes(room.total)) left, \(used)"
        guard room.free >= Self.leastBytes, Double(room.free) >= Self.leastShare * Double(room.total) else {
            return .failed(
                "\(left): make room where PostgreSQL keeps its data, or keep bytes for fewer days "
                    + "(STOREHOOK_RETENTION_DAYS)")
        }
        return .ok(left)
    }

    func horizon() async throws -> Finding.Answer {
        let pins = try await survey.horizon()
        guard let worst = pins.first(where: isOld) else {
            // An operator's user should see the sessions of all users; the other roles need not.
            if try await !survey.seesSessions(), try surveyed?.get().lacking(for: .ops).isEmpty == true {
                return .skipped(
                    "sessions of other users are hidden from this one; as a superuser: grant pg_read_all_stats to "
                        + "\(try await survey.quotedUser())")
            }
            return .ok("nothing older than \(transactionAge.age) holds it back")
        }
        let age = worst.age.map { "for \($0.age)" } ?? "for \(worst.transactions) transactions"
        let (who, remedy) =
            switch worst.kind {
            case .session:
                ("session \(worst.name)", "end it: select pg_terminate_backend(\(worst.name))")
            case .prepared:
                ("prepared transaction \(worst.name)", "commit prepared or rollback prepared it")
            case .slot:
                ("replication slot \(worst.name)", "let its consumer catch up, or pg_drop_replication_slot it")
            }
        return .failed("\(who) (\(worst.detail)) has held it back \(age), so dead rows of the queue pile up; \(remedy)")
    }

    /// Whether the server keeps WAL for readers that do not come, until its disk is full.
    func slots() async throws -> Finding.Answer {
        let slots = try await survey.slots()
        let unread = slots.filter { !$0.isRead }
        guard let worst = unread.first, let kept = worst.keptBytes, kept > 0 else {
            return .ok(slots.isEmpty ? "there are none" : "each that keeps WAL is read")
        }
        let text =
            "replication slot \(worst.name), which no standby reads, keeps \(Self.gibibytes(UInt64(kept))) of WAL"
        guard kept >= Self.muchWAL else { return .ok(text) }
        return .failed(
            "\(text), and goes on until the disk is full: start its reader, or select "
                + "pg_drop_replication_slot('\(worst.name)'); max_slot_wal_keep_size sets a limit")
    }

    private func isOld(_ pin: ServerSurvey.HorizonPin) -> Bool {
        if pin.kind == .slot { return pin.transactions >= Self.manyTransactions }
        guard let age = pin.age else { return pin.transactions >= Self.manyTransactions }
        return age > transactionAge
    }

    /// The file system under a path, in bytes; nil where it cannot be seen.
    private static func room(at path: String) -> (free: UInt64, total: UInt64)? {
        var status = statvfs()
        guard statvfs(path, &status) == 0, status.f_blocks > 0 else { return nil }
        let block = UInt64(status.f_frsize)
        return (UInt64(status.f_bavail) * block, UInt64(status.f_blocks) * block)
    }

    private static func gibibytes(_ bytes: UInt64) -> String {
        String(format: "%.2f GiB", Double(bytes) / Double(1 << 30))
    }
}
