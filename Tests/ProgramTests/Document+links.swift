import Foundation
import TestSupport

extension Document {
    /// The headings, as links name them: in lower case, spaces as hyphens, without what is neither letter, digit, hyphen nor
    /// underscore.
    var anchors: Set<String> {
        var anchors: Set<String> = []
        for line in prose {
            guard let heading = line.wholeMatch(of: /#{1,6} (.*)/) else { continue }
            let kept = heading.1.lowercased().filter { character in
                character.isLetter || character.isNumber || character == " " || character == "-" || character == "_"
            }
            let anchor = kept.replacing(" ", with: "-")
            var name = anchor
            var number = 0
            while !anchors.insert(name).inserted {
                number += 1
                name = "\(anchor)-\(number)"
            }
        }
        return anchors
    }

    /// The paragraphs without what stands between backticks.
    private var words: [String] { paragraphs.map { $0.replacing(/`[^`]*`/, with: "") } }

    /// Where its links lead, as they are written.
    var links: [String] {
        let words = words
        let inline = words.flatMap { $0.matches(of: /\]\(([^()\s]+)\)/).map { String($0.output.1) } }
        let articles = words.flatMap { $0.matches(of: /<doc:([A-Za-z]+)>/).map { "\($0.output.1).md" } }
        return inline + articles + definitions.values.sorted()
    }

    /// The names of the links whose address stands elsewhere in the document, and those addresses.
    private var definitions: [String: String] {
        var definitions: [String: String] = [:]
        for line in prose {
            guard let definition = line.wholeMatch(of: /\[([^\]]+)\]: (\S+)/) else { continue }
            definitions[String(definition.1)] = String(definition.2)
        }
        return definitions
    }

    /// The names that are used for links and have no address, and those that have one and are not used.
    var strayLinkNames: [String] {
        let used = Set(words.flatMap { $0.matches(of: /\]\[([^\]]+)\]/).map { String($0.output.1) } })
        return used.symmetricDifference(definitions.keys).sorted()
    }

    /// What is wrong with a link; nil where it leads somewhere, or out of the project.
    /// - Parameter documents: all documents, by their paths.
    func fault(of link: String, in documents: [String: Document]) -> String? {
        guard !link.contains("://") else { return nil }
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        var target = path
        if let file = parts.first, !file.isEmpty {
            let folder = packageRoot.appending(path: path).deletingLastPathComponent()
            let url = folder.appending(path: String(file)).standardizedFileURL
            guard FileManager.default.fileExists(atPath: url.path) else { return "there is no \(file)" }
            let root = packageRoot.standardizedFileURL.path
            guard url.path.hasPrefix(root) else { return "\(file) is outside of the project" }
            target = String(url.path.dropFirst(root.count).drop { $0 == "/" })
        }
        guard parts.count > 1, let anchor = parts.last else { return nil }
        guard let document = documents[target] else { return "\(target) is no document, and has no \(anchor)" }
        return document.anchors.contains(String(anchor)) ? nil : "\(target) has no heading \(anchor)"
    }

    /// The files and folders of the project that stand between backticks and do not exist.
    var missingFiles: [String] {
        spans.filter { span in
            span.wholeMatch(of: /(?:Sources|Tests|deploy|sql|\.ci)\/[A-Za-z0-9._\/-]+/) != nil
                && !FileManager.default.fileExists(atPath: packageRoot.appending(path: span).path)
        }
    }
}
