import Foundation
import HTTPKit
import Testing

@Suite("The limit of memory of a control group")
struct MemoryLimitTests {
    /// What is found where the kernel lists these groups, and these files are mounted.
    private func limit(_ groups: String, _ files: [String: String]) throws -> Int? {
        let root = FileManager.default.temporaryDirectory.appending(path: "groups-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        let list = root.appending(path: "list")
        try groups.write(to: list, atomically: true, encoding: .utf8)
        for (path, text) in files {
            let file = root.appending(path: "mounted/\(path)")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        return MemoryLimit.ofControlGroup(list: list.path, root: root.appending(path: "mounted").path)
    }

    @Test("is the least from the process's group up, in either version")
    func found() throws {
        #expect(try limit("0::/\n", ["memory.max": "268435456\n"]) == 268_435_456)
        #expect(
            try limit(
                "0::/a.slice/b.service\n",
                ["a.slice/b.service/memory.max": "max\n", "a.slice/memory.max": "1073741824\n"])
                == 1_073_741_824)
        #expect(
            try limit(
                "9:name=systemd:/x\n4:cpu,memory:/pod/c\n",
                [
                    "memory/pod/c/memory.limit_in_bytes": "536870912\n",
                    "memory/memory.limit_in_bytes": "9223372036854771712\n",
                ])
                == 536_870_912)
        // A container sees its own group as the root, whatever the kernel calls it.
        #expect(try limit("4:memory:/host/path\n", ["memory/memory.limit_in_bytes": "536870912\n"]) == 536_870_912)
    }

    @Test("is none where nothing says one")
    func none() throws {
        #expect(try limit("0::/\n", ["memory.max": "max\n"]) == nil)
        #expect(try limit("4:memory:/\n", ["memory/memory.limit_in_bytes": "9223372036854771712\n"]) == nil)
        #expect(try limit("", [:]) == nil)
        #expect(try limit("4:cpu:/\nodd\n", ["memory.max": "nothing\n"]) == nil)
        #expect(MemoryLimit.ofControlGroup(list: "/nowhere", root: "/nowhere") == nil)
    }
}
