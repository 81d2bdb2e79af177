import Base
import Foundation

/// Makes the outputs of two runs equal: what differs between runs of one commit is replaced, and nothing else.
///
/// - A member of JSON that ``members`` lists gets a name. Equal values get equal names, `<key 1>`. The same value is replaced
///   wherever else it stands, in tables, too.
/// - An instant becomes a distance: from the life's start (`<start+30d>`) if the simulator set it, and otherwise from now
///   (`<now>`, `<now+7d>`).
/// - What ``patterns`` lists is replaced in every text.
/// - In tables, the width of columns depends on what is replaced: two spaces stand for two or more.
struct GoldenText {
    /// Members whose values differ between runs, and what stands in them.
    static let members: [String: String] = [
        "root": "root", "key": "key", "secret": "secret", "former_secret": "secret", "created_by": "operator",
        "requested_by": "operator", "by": "operator", "applied_last_minute": "count", "received_last_minute": "count",
        "milliseconds": "milliseconds", "request_identifier": "request", "uuid": "cause",
    ]

    /// Texts that differ between runs wherever they stand. Kept, as all expressions here, because each is read and compiled where it stands: that
    /// takes longer than to find it in a text.
    private let patterns: [(Regex<Substring>, String)] = [
        (/storehook_test_[0-9a-f_]+/, "<database>"), (/, process [0-9]+/, ""),
        (/[0-9.]+ GiB/, "<size>"), (/PostgreSQL [0-9]+\.[0-9]+/, "PostgreSQL <version>"),
        (/-?[0-9.]+ s (?:behind|ahead of) the database/, "<duration> beside the database"),
        (/last minute: [0-9]+ received, [0-9]+ applied/, "last minute: <count> received, <count> applied"),
        (/, [0-9]+ ms\)/, ", <milliseconds> ms)"), (/\/tmp\/[A-Za-z0-9\/._-]+/, "<file>"),
        (/[a-z]+@[A-Za-z0-9-]+(?= |$)/, "<operator>"),
        (/127\.0\.0\.1:[0-9]+/, "127.0.0.1:<port>"), (/evt_[0-9a-z]+_/, "evt_<incarnation>_"),
        (
            /[0-9]{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December)(?: [0-9]{4})?/,
            "<date>"
        ),
        (/eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+/, "<jws>"),
    ]
    private let milliseconds = /\b1[0-9]{12}\b/
    private let instant =
        /([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)(\.[0-9]{1,9})?(Z|\+00:?(?:00)?)?/
    private let spaces = /[ ]{2,}/

    /// When the life started, in milliseconds since 1970; a whole second.
    private let start: Int64
    /// When the programs ran. No instant of the life is a whole number of hours away from it.
    private let now: ClosedRange<Int64>
    private var names: [String: String] = [:]
    private var counts: [String: Int] = [:]

    init(start: Int64, now: ClosedRange<Int64>) {
        self.start = start
        self.now = now
    }

    /// JSON with what differs replaced, its members in the order of their names; nil where it is none.
    mutating func json(_ text: String) -> String? {
        guard let value = try? JSONDecoder().decode(JSON.self, from: Data(text.utf8)) else { return nil }
        return replacing(value, "").text()
    }

    /// JSON a line, where there are several; or a text that is none.
    mutating func lines(_ text: String) -> String {
        text.split(separator: "\n").map { json(String($0)) ?? table(String($0)) }.joined(separator: "\n")
    }

    /// Text with what differs replaced. To be asked after all JSON: what got a name there has it here.
    func table(_ text: String) -> String {
        var text = plain(text)
        for (value, name) in names where value.count >= 6 { text = text.replacing(value, with: name) }
        return text.replacing(spaces, with: "  ")
    }

    private mutating func name(_ value: String, _ kind: String) -> String {
        if let name = names[value] { return name }
        counts[kind, default: 0] += 1
        let name = "<\(kind) \(counts[kind] ?? 0)>"
        names[value] = name
        return name
    }

    private mutating func replacing(_ value: JSON, _ member: String) -> JSON {
        switch value {
        case .object(let object):
            var replaced: [String: JSON] = [:]
            for (key, value) in object.sorted(by: { $0.key < $1.key }) {
                replaced[names[key] ?? plain(key)] = replacing(value, key)
            }
            return .object(replaced)
        case .list(let list): return .list(list.map { replacing($0, member) })
        case .text(let text):
            if let kind = Self.members[member] { return .text(name(text, kind)) }
            return .text(names[text] ?? plain(text))
        case .whole(let number):
            if let kind = Self.members[member] { return .text(name("\(number)", kind)) }
            // Milliseconds since 1970, or seconds.
            if (1_000_000_000_000..<3_000_000_000_000).contains(number) { return .text(distance(number) + " in ms") }
            if (1_600_000_000..<3_000_000_000).contains(number) { return .text(distance(number * 1000) + " in s") }
            return value
        case .fraction(let number):
            guard let kind = Self.members[member] else { return value }
            return .text(name("\(number)", kind))
        case .boolean, .null: return value
        }
    }

    private func plain(_ text: String) -> String {
        // Most texts are names.
        guard text.utf8.contains(where: { (0x30...0x39).contains($0) || $0 == UInt8(ascii: "@") }) else { return text }
        var text = text
        text = text.replacing(Release.version, with: "<version>")
        for (pattern, replacement) in patterns { text = text.replacing(pattern, with: replacement) }
        // Milliseconds since 1970.
        text = text.replacing(milliseconds) { Int64($0.output).map { distance($0) + " in ms" } ?? "" }
        return text.replacing(instant) { match in
            let (_, day, time, fraction, _) = match.output
            let full = "\(day)T\(time)\(time.count == 5 ? ":00" : "")Z"
            guard let date = try? Date(full, strategy: .iso8601) else { return String(match.output.0) }
            let thousandths = fraction.flatMap { Double("0" + $0) }.map { Int64(($0 * 1000).rounded()) } ?? 0
            return distance(Int64(date.timeIntervalSince1970) * 1000 + thousandths)
        }
    }

    private func distance(_ instant: Int64) -> String {
        let hour: Int64 = 3_600_000
        let slack: Int64 = 60_000
        let since = instant - (now.lowerBound - slack)
        let hours = Int64((Double(since) / Double(hour)).rounded(.down))
        if since - hours * hour <= now.upperBound - now.lowerBound + 2 * slack {
            return "<now\(Self.spoken(hours * hour))>"
        }
        return "<start\(Self.spoken(instant - start))>"
    }

    /// `+30d 2h 0m 0.5s`, without what is zero.
    private static func spoken(_ milliseconds: Int64) -> String {
        guard milliseconds != 0 else { return "" }
        let whole = abs(milliseconds)
        var parts: [String] = []
        for (length, unit) in [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m")] as [(Int64, String)] {
            let count = length == 86_400_000 ? whole / length : whole % (length * (unit == "h" ? 24 : 60)) / length
            if count > 0 { parts.append("\(count)\(unit)") }
        }
        let rest = whole % 60_000
        if rest > 0 {
            parts.append(
                rest % 1000 == 0 ? "\(rest / 1000)s" : "\(rest / 1000).\(String(rest % 1000 + 1000).dropFirst())s")
        }
        return (milliseconds < 0 ? "-" : "+") + parts.joined(separator: " ")
    }
}

/// A value of JSON.
enum JSON: Decodable {
    case object([String: JSON])
    case list([JSON])
    case text(String)
    case whole(Int64)
    case fraction(Double)
    case boolean(Bool)
    case null

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let boolean = try? value.decode(Bool.self) {
            self = .boolean(boolean)
        } else if let number = try? value.decode(Int64.self) {
            self = .whole(number)
        } else if let number = try? value.decode(Double.self) {
            self = .fraction(number)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let list = try? value.decode([JSON].self) {
            self = .list(list)
        } else {
            self = .object(try value.decode([String: JSON].self))
        }
    }

    /// Over several lines, members in the order of their names.
    func text(_ indent: String = "") -> String {
        let deeper = indent + "  "
        switch self {
        case .object(let object):
            let members = object.sorted { $0.key < $1.key }
                .map { "\(deeper)\(Self.quoted($0.key)): \($0.value.text(deeper))" }
            return members.isEmpty ? "{}" : "{\n\(members.joined(separator: ",\n"))\n\(indent)}"
        case .list(let list):
            let elements = list.map { deeper + $0.text(deeper) }
            return elements.isEmpty ? "[]" : "[\n\(elements.joined(separator: ",\n"))\n\(indent)]"
        case .text(let text): return Self.quoted(text)
        case .whole(let number): return "\(number)"
        case .fraction(let number): return "\(number)"
        case .boolean(let boolean): return "\(boolean)"
        case .null: return "null"
        }
    }

    private static func quoted(_ text: String) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return (try? encoder.encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
    }
}
