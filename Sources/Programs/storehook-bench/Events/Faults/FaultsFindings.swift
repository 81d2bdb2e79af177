/// What a check has found, under the name of the check: nothing, where all is well.
struct FaultsFindings {
    private struct Check {
        let name: String
        let text: String
        var offenders: [String] = []
        var count = 0
    }
    private var checks: [Check] = []

    /// So many offenders are named.
    private static let named = 5

    /// Adds a check, with all that offends it.
    /// - Parameters:
    ///   - name: the member's name in JSON.
    ///   - text: what people read.
    mutating func check(_ name: String, _ text: String, _ offenders: [String]) {
        checks.append(
            Check(name: name, text: text, offenders: Array(offenders.prefix(Self.named)), count: offenders.count))
    }

    /// Adds a check that only counts.
    mutating func check(_ name: String, _ text: String, _ count: Int) {
        checks.append(Check(name: name, text: text, count: count))
    }

    var isClean: Bool { checks.allSatisfy { $0.count == 0 } }

    func add(to figures: inout Figures) {
        for check in checks { figures.add(check.name, Double(check.count), "must be 0: \(check.text)") }
    }

    /// For people: the failed checks, with their offenders.
    var complaints: [String] {
        checks.filter { $0.count > 0 }.flatMap { check in
            ["\(check.count): \(check.text)"] + check.offenders.map { "  \($0)" }
        }
    }
}
