import Foundation

/// The process that listens on a TCP port of this machine, by what Linux shows in /proc (proc(5): net/tcp, fd).
struct PortOwner {
    let id: Int
    let name: String

    /// Nil where no process listens, or none that this user may see.
    static func find(port: Int) -> PortOwner? {
        let sockets = Set(["/proc/net/tcp", "/proc/net/tcp6"].flatMap { listeners(in: $0, port) })
        guard !sockets.isEmpty, let entries = try? FileManager.default.contentsOfDirectory(atPath: "/proc") else {
            return nil
        }
        for id in entries.compactMap(Int.init) {
            let directory = "/proc/\(id)/fd"
            guard let files = try? FileManager.default.contentsOfDirectory(atPath: directory) else { continue }
            let isOwner = files.contains { file in
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(directory)/\(file)"))
                    .map(sockets.contains) ?? false
            }
            if isOwner {
                let name = (try? String(contentsOfFile: "/proc/\(id)/comm", encoding: .utf8)) ?? "a process"
                return PortOwner(id: id, name: name.split(separator: "\n").first.map(String.init) ?? "a process")
            }
        }
        return nil
    }

    /// `socket:[inode]` of each socket that listens on the port. Columns: slot, local address, remote address, state (0A is
    /// LISTEN), queues, timer, retransmits, uid, timeout, inode.
    private static func listeners(in file: String, _ port: Int) -> [String] {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return [] }
        let suffix = ":" + String(format: "%04X", port)
        return text.split(separator: "\n").dropFirst().compactMap { line in
            let columns = line.split(separator: " ")
            guard columns.count > 9, columns[3] == "0A", columns[1].hasSuffix(suffix) else { return nil }
            return "socket:[\(columns[9])]"
        }
    }
}
