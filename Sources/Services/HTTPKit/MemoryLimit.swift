import Foundation

/// How much memory this process may take.
package enum MemoryLimit {
    /// What is assumed where nothing limits it, in bytes: as much as the shipped files give the account API.
    package static let usual = 512 << 20
    /// The least with which `serve` runs, in bytes: what it takes by itself, and room for one long receipt.
    package static let least = 192 << 20

    /// The limit of the process's control group or the nearest above it, in bytes; nil where there is none.
    ///
    /// Both versions of control groups: `memory.max`, and `memory.limit_in_bytes`. In a container the path that the kernel
    /// names may be that of the host, while the mount shows the container's own group as the root: each folder on the way
    /// is asked, and the least of what they say holds.
    /// - Parameters:
    ///   - list: which groups the process is in; see cgroups(7).
    ///   - root: where they are mounted.
    package static func ofControlGroup(list: String = "/proc/self/cgroup", root: String = "/sys/fs/cgroup") -> Int? {
        guard let lines = try? String(contentsOfFile: list, encoding: .utf8) else { return nil }
        var files: [String] = []
        for line in lines.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            let controllers = parts[1].split(separator: ",")
            guard controllers.isEmpty || controllers.contains("memory") else { continue }
            let (folder, file) =
                controllers.isEmpty ? (root, "memory.max") : ("\(root)/memory", "memory.limit_in_bytes")
            var path = parts[2].split(separator: "/")
            while true {
                files.append(([folder] + path.map(String.init) + [file]).joined(separator: "/"))
                if path.popLast() == nil { break }
            }
        }
        // Version 1 writes an absurd number where there is no limit, version 2 a word.
        return files.compactMap { try? String(contentsOfFile: $0, encoding: .utf8) }
            .compactMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
            .filter { $0 > 0 && $0 < 1 << 50 }.min()
    }
}
