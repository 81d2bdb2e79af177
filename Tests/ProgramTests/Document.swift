import Foundation
import TestSupport

/// A document of the project: what it says to type, where its links lead, and what it names.
struct Document: Sendable {
    /// What stands between two fences.
    struct Block: Sendable {
        /// What stands behind the opening fence.
        var language: String
        var lines: [String]
        /// Whether nothing but empty lines stands between the block before and this one.
        var isBelowTheOneBefore: Bool

        /// Whether its first line claims that no test types it.
        var isLeftOut: Bool { lines.first?.hasPrefix("# Our tests do not type this") ?? false }

        /// Whether a test is to type it.
        var isTyped: Bool { language == "sh" && !isLeftOut }

        /// What a reader types, line by line. What stands in brackets is typed once with and once without.
        var commands: [String] {
            lines.filter { !$0.isEmpty }.flatMap { line in
                guard let bracket = line.wholeMatch(of: /(.*) \[(.*?)\](.*)/) else { return [line] }
                return ["\(bracket.1)\(bracket.3)", "\(bracket.1) \(bracket.2)\(bracket.3)"]
            }
        }

        /// Whether an answer is the one that is shown. Three dots stand for what is left out.
        func isShown(in answer: String) -> Bool {
            var rest = answer[...]
            for line in lines {
                for piece in line.drop(while: { $0 == " " }).split(separator: "…") {
                    guard let range = rest.firstRange(of: piece) else { return false }
                    rest = rest[range.upperBound...]
                }
            }
            return true
        }
    }

    /// The path from the package's directory.
    let path: String
    let text: String
    let blocks: [Block]
    /// The lines outside of fences.
    let prose: [String]
    /// Whether a fence was never closed.
    let isOpen: Bool

    /// Reads it.
    init(_ path: String) throws {
        let text = try String(contentsOf: packageRoot.appending(path: path), encoding: .utf8)
        var blocks: [Block] = []
        var prose: [String] = []
        var open: Block?
        var isBelow = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if var block = open {
                if line == "```" {
                    blocks.append(block)
                    open = nil
                    isBelow = true
                } else {
                    block.lines.append(line)
                    open = block
                }
            } else if line.hasPrefix("```") {
                open = Block(language: String(line.dropFirst(3)), lines: [], isBelowTheOneBefore: isBelow)
            } else {
                prose.append(line)
                if !line.isEmpty { isBelow = false }
            }
        }
        self.path = path
        self.text = text
        self.blocks = blocks
        self.prose = prose
        isOpen = open != nil
    }

    /// The first block in a language.
    func block(in language: String) -> Block? { blocks.first { $0.language == language } }

    /// The paragraphs outside of fences, each in one line; a row of a table is one by itself.
    var paragraphs: [String] {
        var paragraphs: [String] = []
        var lines: [String] = []
        for line in prose + [""] {
            let isRow = line.drop { $0 == " " }.hasPrefix("|")
            if line.isEmpty || isRow {
                if !lines.isEmpty { paragraphs.append(lines.joined(separator: " ")) }
                lines = []
                if isRow { paragraphs.append(line) }
            } else {
                lines.append(line)
            }
        }
        return paragraphs
    }

    /// What stands between backticks outside of fences.
    var spans: [String] {
        paragraphs.flatMap { $0.matches(of: /`([^`]+)`/).map { String($0.output.1) } }
    }

    /// Where the chapters are.
    private static let catalog = "Sources/Programs/storehook/storehook.docc"

    /// A chapter's path.
    static func chapter(_ name: String) -> String { "\(catalog)/\(name).md" }

    /// The documents of the project, wherever they are.
    static func all() throws -> [Document] {
        let found = try ["Sources", "Tests", "deploy", "sql"].flatMap { folder in
            try FileManager.default.subpathsOfDirectory(atPath: packageRoot.appending(path: folder).path)
                .filter { $0.hasSuffix(".md") }.map { "\(folder)/\($0)" }
        }
        return try (["README.md"] + found.sorted()).map { try Document($0) }
    }
}
