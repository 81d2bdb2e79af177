import Foundation

/// What processes have cost, from /proc (proc(5)).
enum ProcessTimes {
    /// User and system seconds of one process so far; nil if it is not here.
    static func cpuSeconds(of pid: Int32) -> Double? { seconds(of: pid, [Field.user, Field.system]) }

    /// CPU seconds of one process's first thread, to the nanosecond: what a PostgreSQL backend uses, which has one alone.
    static func threadCPUSeconds(of pid: Int32) -> Double? {
        let text = try? String(contentsOfFile: "/proc/\(pid)/schedstat", encoding: .utf8)
        return text?.split(separator: " ").first.flatMap { Double($0) }.map { $0 / 1_000_000_000 }
    }

    /// The process that started this one; nil if it is not here.
    static func parent(of pid: Int32) -> Int32? {
        fields(of: pid).flatMap { $0.count > Field.parent ? Int32($0[Field.parent]) : nil }
    }

    /// The processes that this one started and that still run.
    static func children(of pid: Int32) -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.filter { parent(of: $0) == pid }
    }

    /// CPU seconds of a process and of its children, those that have ended included.
    static func familyCPUSeconds(of pid: Int32) -> Double? {
        let own = seconds(of: pid, [Field.user, Field.system, Field.endedUser, Field.endedSystem])
        return own.map { children(of: pid).compactMap(cpuSeconds(of:)).reduce($0, +) }
    }

    /// CPU seconds of this process, to the microsecond: POSIX has clock(3) count a million a second.
    static var ownCPUSeconds: Double { Double(clock()) / 1_000_000 }

    /// CPU seconds of all children of this process that have ended.
    static var endedChildrenCPUSeconds: Double {
        seconds(of: ProcessInfo.processInfo.processIdentifier, [Field.endedUser, Field.endedSystem]) ?? 0
    }

    /// Places after the program's name, from 0.
    private enum Field {
        static let parent = 1
        static let user = 11
        static let system = 12
        static let endedUser = 13
        static let endedSystem = 14
    }

    private static func seconds(of pid: Int32, _ places: [Int]) -> Double? {
        guard let fields = fields(of: pid), fields.count > Field.endedSystem else { return nil }
        return places.compactMap { Double(fields[$0]) }.reduce(0, +) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    private static func fields(of pid: Int32) -> [Substring]? {
        guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            // The second field is the program's name in brackets, and may hold anything.
            let end = stat.lastIndex(of: ")")
        else { return nil }
        return stat[stat.index(after: end)...].split(separator: " ")
    }
}
