package import Base

/// What a command prints: JSON for scripts, or text for people; of some lists, CSV for spreadsheets.
package struct CommandAnswer: Sendable {
    /// For scripts.
    package let json: JSONValue
    /// For people.
    package let text: String
    /// For spreadsheets; nil where there is none.
    package let csv: String?

    /// An answer. The members of its objects are printed in the order of their names, so that the same answer is the same text.
    package init(_ json: JSONValue, text: String, csv: String? = nil) {
        self.json = json.sorted
        self.text = text
        self.csv = csv
    }

    /// One thing by its shape.
    package init<Subject>(_ subject: Subject, _ shape: CommandShape<Subject>, text: String) {
        self.init(shape.value(of: subject), text: text)
    }

    /// A list by its shape: a line each, or a sentence where there is nothing.
    package init<Subject>(_ subjects: [Subject], _ shape: CommandShape<Subject>, ifEmpty sentence: String) {
        self.init(shape.values(of: subjects), text: subjects.isEmpty ? sentence : shape.table(of: subjects))
    }

    /// Lines of a name and a value, for people; without those that have none.
    /// - Parameter width: of the names; that of the longest and two more by default.
    static func lines(_ rows: [(String, String?)], width: Int? = nil) -> String {
        let width = width ?? (rows.map(\.0.count).max() ?? 0) + 2
        return rows.compactMap { name, value in
            value.map { name + String(repeating: " ", count: width - name.count) + $0 }
        }.joined(separator: "\n")
    }
}
