/// Prints what became of the cells.
enum ChaosTable {
    private static let columns: [(title: String, name: String, value: @Sendable (ChaosOutcome) -> String)] = [
        ("posted", "posted", { "\($0.posted)" }),
        ("acknowledged", "acknowledged", { "\($0.acknowledged)" }),
        ("repeated", "repeated", { "\($0.repeated)" }),
        ("applied", "applied", { "\($0.applied)" }),
        ("duplicate", "duplicate", { "\($0.duplicate)" }),
        ("dead", "dead", { "\($0.dead)" }),
        ("lost", "lost", { "\($0.lost)" }),
        ("doubled", "doubled", { "\($0.doubled)" }),
        ("unreadable", "unreadable", { "\($0.unreadable)" }),
        ("state differs", "differences", { $0.differences == 0 ? "0" : "yes" }),
        ("recovered in", "seconds_to_recover", { "\(Double(Int($0.secondsToRecover * 100)) / 100)" }),
    ]

    static func print(_ outcomes: [ChaosOutcome], json: Bool) {
        if json {
            for outcome in outcomes {
                let figures =
                    words(outcome).map { ["\"\($0.name)\":\"\($0.text.replacing("\"", with: "'"))\""] }
                    ?? columns.map { "\"\($0.name)\":\($0.value(outcome) == "yes" ? "1" : $0.value(outcome))" }
                Swift.print("{\"cell\":\"\(outcome.cell)\",\(figures.joined(separator: ","))}")
            }
            return
        }
        Swift.print("| cell | " + columns.map(\.title).joined(separator: " | ") + ", s |")
        Swift.print("|---|" + String(repeating: "---:|", count: columns.count))
        for outcome in outcomes {
            let cells = words(outcome).map { ["\($0.title): \($0.text)"] } ?? columns.map { $0.value(outcome) }
            Swift.print("| \(outcome.cell) | " + cells.joined(separator: " | ") + " |")
        }
    }
    /// Of a cell that has no figures, why.
    private static func words(_ outcome: ChaosOutcome) -> (name: String, title: String, text: String)? {
        outcome.skipped.map { ("skipped", "not run", $0) } ?? outcome.failure.map { ("failed", "failed", $0) }
    }
}
