import Foundation
import TestSupport

/// The documents' chapter about the client.
struct Chapter {
    /// A part under a heading of the second level.
    struct Section {
        let title: String
        /// Its blocks of Swift, one below the other: a file of a reader's program. Empty where it has none.
        let code: String
    }

    let text: String
    let sections: [Section]

    /// Reads it.
    init() throws {
        let file = packageRoot.appending(path: "Sources/Programs/storehook/storehook.docc/Client.md")
        text = try String(contentsOf: file, encoding: .utf8)
        sections = text.split(separator: "\n## ").dropFirst().map { part in
            var (code, isCode): ([Substring], Bool) = ([], false)
            for line in part.split(separator: "\n", omittingEmptySubsequences: false) {
                if line.hasPrefix("```") { isCode = line == "```swift" } else if isCode { code.append(line) }
            }
            return Section(title: String(part.prefix { $0 != "\n" }), code: code.joined(separator: "\n"))
        }
    }

    /// The names that it writes as `Type.member`, a member without its arguments.
    var names: [[String]] {
        text.matches(of: /`([A-Z]\w+(?:\.\w+)+)[^`\n]*`/).map { $0.1.split(separator: ".").map(String.init) }
    }

    /// All names in the tables of a section.
    func namesInTables(of title: String) -> [[String]] {
        guard let part = text.split(separator: "\n## ").first(where: { $0.hasPrefix(title + "\n") }) else { return [] }
        let rows = part.split(separator: "\n").filter { $0.hasPrefix("| `") }
        return rows.flatMap { $0.matches(of: /`([\w.]+)`/) }.map { $0.1.split(separator: ".").map(String.init) }
    }
}
