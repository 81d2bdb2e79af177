/// A command that gives what a page shows, as it is typed in a shell.
enum CommandLine {
    /// `storehook orders list --status refunded`
    /// - Parameters:
    ///   - words: the command and what follows it.
    ///   - options: each with its value; without a value it is left out.
    static func text(_ words: [String], _ options: [(String, String?)] = []) -> String {
        let given = options.flatMap { name, value -> [String] in
            guard let value, !value.isEmpty else { return [] }
            return ["--\(name)", quoted(value)]
        }
        return (["storehook"] + words.map { quoted($0) } + given).joined(separator: " ")
    }

    private static func quoted(_ word: String) -> String {
        let plain = word.utf8.allSatisfy { $0.isASCIILetterOrDigit || others.contains($0) }
        return plain && !word.isEmpty ? word : "'" + word.replacing("'", with: "'\\''") + "'"
    }
    /// What a shell leaves as it is, beside letters and digits.
    private static let others = Set("-_.:,/@".utf8)
}
