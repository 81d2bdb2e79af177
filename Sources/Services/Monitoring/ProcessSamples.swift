import Base
import Foundation

/// What Linux reports of this process, under the names that Prometheus' own clients use.
enum ProcessSamples {
    /// As far as it can be read; nothing where there is no /proc.
    static func now() -> [MetricSample] {
        guard let stat = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
            // The second field is the program's name in brackets, and may hold anything. (proc(5))
            let end = stat.lastIndex(of: ")")
        else { return [] }
        let fields = stat[stat.index(after: end)...].split(separator: " ").map { Double($0) ?? 0 }
        guard fields.count > 21 else { return [] }
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        var samples = [
            MetricSample("process_cpu_seconds_total", [], (fields[11] + fields[12]) / ticks),
            MetricSample("process_resident_memory_bytes", [], fields[21] * Double(sysconf(Int32(_SC_PAGESIZE)))),
        ]
        if let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            samples.append(MetricSample("process_open_fds", [], Double(descriptors.count)))
        }
        if let booted = bootTime {
            samples.append(MetricSample("process_start_time_seconds", [], booted + fields[19] / ticks))
        }
        return samples
    }

    /// When the machine was started, in seconds since 1970.
    private static let bootTime: Double? = {
        guard let stat = try? String(contentsOfFile: "/proc/stat", encoding: .utf8) else { return nil }
        return stat.split(separator: "\n").first { $0.hasPrefix("btime ") }.flatMap { Double($0.dropFirst(6)) }
    }()
}
