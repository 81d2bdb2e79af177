import Base

/// Reads the elements of an XML text one after the other, without a tree.
///
/// It reads what a file of rates needs. A text with a document type is refused, since only that can define entities; so are references
/// in attributes, sections of character data, and elements nested deeper than ``deepest``. Text between elements is passed over.
struct XMLScanner {
    /// The deepest nesting. A file of rates has four levels.
    static let deepest = 8

    /// What stands next.
    enum Step {
        /// An element begins. Names are without their prefixes; an element that is closed at once ends in the next step.
        case begins(String, attributes: [String: String])
        /// The element ends that began last and has not ended.
        case ends
        /// There is text that is not blank, outside of tags.
        case text
    }

    /// The line of the last step, from 1 on.
    private(set) var line = 1
    private var currentLine = 1
    private let bytes: [UInt8]
    private var place: Int
    private var open: [(name: String, line: Int)] = []
    private var endsAtOnce = false
    private var hasRoot = false

    init(_ bytes: [UInt8], from start: Int) {
        self.bytes = bytes
        place = start
    }

    /// The number of elements that have begun and not ended.
    var depth: Int { open.count }

    /// The next step; nil at the end of a text that is whole.
    mutating func next() throws(RateFileFault.Finding) -> Step? {
        if endsAtOnce {
            endsAtOnce = false
            open.removeLast()
            return .ends
        }
        while place < bytes.count {
            line = currentLine
            guard bytes[place] == UInt8(ascii: "<") else {
                if text() { return .text }
                continue
            }
            if try skip("<?", through: "?>") { continue }
            if try skip("<!--", through: "-->") { continue }
            guard !starts(with: "<!") else {
                throw fault(
                    "a document type, entities and character data have no place in a file of rates; fetch it again")
            }
            return try starts(with: "</") ? end() : begin()
        }
        guard open.isEmpty else { throw cut() }
        return nil
    }

    /// Passes over text.
    /// - Returns: whether it is more than blanks.
    private mutating func text() -> Bool {
        var isText = false
        while place < bytes.count, bytes[place] != UInt8(ascii: "<") {
            isText = !isBlank(take()) || isText
        }
        return isText
    }

    private mutating func end() throws(RateFileFault.Finding) -> Step {
        place += 2
        let name = name()
        blanks()
        guard let last = open.popLast(), last.name == name, take(">") else {
            throw fault(
                "the tags do not match: \(YAMLFault.quoting("</\(name)")) ends nothing that has begun; fetch it again")
        }
        return .ends
    }

    private mutating func begin() throws(RateFileFault.Finding) -> Step {
        place += 1
        let whole = name()
        guard !whole.isEmpty else { throw fault("this is no XML: no name follows <; fetch it again") }
        guard open.count < Self.deepest else {
            throw fault(
                "elements are nested deeper than \(Self.deepest) levels, and four have a meaning; fetch it again")
        }
        guard !open.isEmpty || !hasRoot else {
            throw fault("something stands after the end of the text; fetch it again")
        }
        hasRoot = true
        var attributes: [String: String] = [:]
        while true {
            let hasBlank = blanks()
            if take("/") {
                guard take(">") else { throw fault("this is no XML: no > follows /; fetch it again") }
                endsAtOnce = true
                break
            }
            if take(">") { break }
            guard place < bytes.count else { throw cut() }
            let name = name()
            guard hasBlank, !name.isEmpty, attributes.count < Self.mostAttributes, let value = try value(),
                attributes.updateValue(value, forKey: name) == nil
            else {
                throw fault(
                    "this is no XML: the attributes of \(YAMLFault.quoting(whole)) cannot be read; fetch it again")
            }
        }
        open.append((whole, line))
        return .begins(String(whole.split(separator: ":").last ?? ""), attributes: attributes)
    }

    /// The value of an attribute, from the equals sign on.
    private mutating func value() throws(RateFileFault.Finding) -> String? {
        blanks()
        guard take("=") else { return nil }
        blanks()
        guard place < bytes.count, bytes[place] == UInt8(ascii: "'") || bytes[place] == UInt8(ascii: "\"") else {
            return nil
        }
        let quote = take()
        let start = place
        while place < bytes.count, bytes[place] != quote, place - start < Self.longestName {
            guard bytes[place] != UInt8(ascii: "<"), bytes[place] != UInt8(ascii: "&") else { return nil }
            _ = take()
        }
        let value = String(decoding: bytes[start..<place], as: UTF8.self)
        guard place < bytes.count else { throw cut() }
        return take() == quote ? value : nil
    }

    /// A name, with its prefix; empty where none stands here.
    private mutating func name() -> String {
        let start = place
        while place < bytes.count, isName(bytes[place]), place - start < Self.longestName { place += 1 }
        return String(decoding: bytes[start..<place], as: UTF8.self)
    }

    // MARK: Bytes

    private mutating func take() -> UInt8 {
        let byte = bytes[place]
        place += 1
        if byte == UInt8(ascii: "\n") { currentLine += 1 }
        return byte
    }

    private mutating func take(_ sign: Unicode.Scalar) -> Bool {
        guard place < bytes.count, bytes[place] == UInt8(ascii: sign) else { return false }
        place += 1
        return true
    }

    @discardableResult
    private mutating func blanks() -> Bool {
        let start = place
        while place < bytes.count, isBlank(bytes[place]) { _ = take() }
        return place > start
    }

    private func starts(with text: String) -> Bool { bytes[place...].starts(with: text.utf8) }

    /// Passes over what begins and ends so, if it stands here.
    private mutating func skip(_ start: String, through end: String) throws(RateFileFault.Finding) -> Bool {
        guard starts(with: start) else { return false }
        place += start.utf8.count
        while place < bytes.count, !starts(with: end) { _ = take() }
        guard place < bytes.count else { throw cut() }
        place += end.utf8.count
        return true
    }

    private func isBlank(_ byte: UInt8) -> Bool { " \t\r\n".utf8.contains(byte) }

    private func isName(_ byte: UInt8) -> Bool { !isBlank(byte) && !"<>/='\"&".utf8.contains(byte) }

    private func fault(_ message: String) -> RateFileFault.Finding { .init(line: line, message: message) }

    /// The fault of a text that ends too early.
    private func cut() -> RateFileFault.Finding {
        let inside = open.last.map { " within \(YAMLFault.quoting($0.name)) of line \($0.line)" } ?? ""
        return .init(line: currentLine, message: "the file ends\(inside), and is not whole; fetch it again")
    }

    private static let mostAttributes = 8
    private static let longestName = 256
}
