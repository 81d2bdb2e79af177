import Foundation

/// What processes hold, from /proc (proc(5)).
enum ProcessMemory {
    /// Bytes of RAM, shared ones included.
    static func resident(_ pid: Int32) -> Int64? { read(pid, "VmRSS:") }

    /// The most bytes of RAM that it has held at once.
    static func peak(_ pid: Int32) -> Int64? { read(pid, "VmHWM:") }

    /// Bytes that are this process's alone: of a PostgreSQL process the shared buffers it happened to touch are not.
    static func anonymous(_ pid: Int32) -> Int64? { read(pid, "RssAnon:") }

    private static func read(_ pid: Int32, _ name: String) -> Int64? {
        guard let status = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
            let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int64($0) })
        else { return nil }
        return kilobytes * 1024
    }
}
