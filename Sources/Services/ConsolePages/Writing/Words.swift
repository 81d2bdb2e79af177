/// All words of the pages, in all of their languages: one line of one file each, so that none lacks a language. The files' names begin with
/// ``prefix``.
///
/// A line has a key, `=`, and the texts in the order of ``Language``, with `|` between them. A text may have places in braces.
struct Words: Sendable {
    private let texts: [String: [String]]

    /// What is wrong with a line.
    struct Fault: Error, Sendable, Hashable, CustomStringConvertible {
        /// The file's name.
        let file: String
        /// From 1 on.
        let line: Int
        /// What is wrong.
        let why: String

        /// One line.
        var description: String { "\(file):\(line): \(why)" }
    }

    /// What the names of the files begin with.
    static let prefix = "words-"

    /// Reads those of these files that have words.
    init(_ files: [String: String]) throws(Fault) {
        var texts: [String: [String]] = [:]
        for (file, text) in files.sorted(by: { $0.key < $1.key }) {
            guard file.hasPrefix(Self.prefix) else { continue }
            for (place, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                if line.isEmpty || line.hasPrefix("#") { continue }
                do throws(Refusal) {
                    let (key, words) = try Self.read(line)
                    guard texts.updateValue(words, forKey: key) == nil else {
                        throw Refusal(why: "\(key) is there twice")
                    }
                } catch {
                    throw Fault(file: file, line: place + 1, why: error.why)
                }
            }
        }
        self.texts = texts
    }

    private struct Refusal: Error {
        let why: String
    }

    private static func read(_ line: Substring) throws(Refusal) -> (key: String, words: [String]) {
        guard let middle = line.firstRange(of: " = ") else { throw Refusal(why: "a key, =, and its texts") }
        let key = String(line[..<middle.lowerBound])
        let words = line[middle.upperBound...].split(separator: " | ", omittingEmptySubsequences: false).map {
            String($0)
        }
        guard isKey(key) else { throw Refusal(why: "no key") }
        guard words.count == Language.allCases.count, words.allSatisfy({ !$0.isEmpty && !$0.contains("|") }) else {
            throw Refusal(why: "\(key) has not one text in each language")
        }
        guard Set(words.map { places(in: $0) }).count == 1 else {
            throw Refusal(why: "\(key) has other places in another language")
        }
        return (key, words)
    }

    /// All keys.
    var keys: Set<String> { Set(texts.keys) }

    /// A text; nil where there is none.
    func text(_ key: String, in language: Language) -> String? {
        guard let words = texts[key], let place = Language.allCases.firstIndex(of: language) else { return nil }
        return words[place]
    }

    /// Those that templates name: keys without a point.
    func fillings(in language: Language) -> PageValue {
        guard let place = Language.allCases.firstIndex(of: language) else { return .members([:]) }
        return .members(texts.filter { !$0.key.contains(".") }.mapValues { .text($0[place]) })
    }

    /// The names of the places in a text.
    private static func places(in text: String) -> Set<Substring> {
        Set(
            text.split(separator: "{", omittingEmptySubsequences: false).dropFirst()
                .compactMap { $0.split(separator: "}").first })
    }

    private static func isKey(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
                    || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ".")
                    || $0 == UInt8(ascii: "-")
            }
    }
}
