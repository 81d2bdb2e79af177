/// Help as it is printed. ArgumentParser folds all of it but the usage.
enum HelpText {
    /// The usage in lines of at most so many columns, as long as no part of it is longer.
    static func folded(_ help: String, to columns: Int = 80) -> String {
        help.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("USAGE: ") && $0.count > columns ? fold($0, columns) : String($0) }
            .joined(separator: "\n")
    }

    private static func fold(_ usage: Substring, _ columns: Int) -> String {
        let indent = String(repeating: " ", count: "USAGE: ".count)
        var lines: [String] = []
        var line = ""
        for part in parts(of: usage) {
            if !line.isEmpty, line.count + 1 + part.count > columns {
                lines.append(line)
                line = indent + part
            } else {
                line += line.isEmpty ? part : " " + part
            }
        }
        return (lines + [line]).joined(separator: "\n")
    }

    /// What belongs together: an option with its value, and whatever stands in brackets.
    private static func parts(of usage: Substring) -> [String] {
        var parts: [String] = []
        var depth = 0
        for word in usage.split(separator: " ") {
            let isValue = word.hasPrefix("<") && parts.last?.hasPrefix("-") == true || word.hasPrefix("...")
            if let last = parts.last, depth > 0 || isValue {
                parts[parts.count - 1] = "\(last) \(word)"
            } else {
                parts.append(String(word))
            }
            depth += word.count { $0 == "[" } - word.count { $0 == "]" }
        }
        return parts
    }
}
