import Base
import Yams

/// Reads a commission table.
enum CommissionReader {
    /// The table of a file. It complains of what is contradictory.
    static func read(_ root: Node, _ file: inout FigureFileReader) -> Commission {
        let commission = Commission(
            memberships: file.entries(root, "program", .membership) { members in
                guard let from = members.firstDay, let program = program(members) else { return nil }
                return .init(from: from, apps: texts(members, "apps"), program: program)
            },
            rates: file.entries(root, "rates", .rate) { members in
                guard let from = members.firstDay, let first = share(members, "first_year") else { return nil }
                return .init(
                    from: from, storefronts: texts(members, "storefronts"), program: program(members),
                    firstYear: first, laterYears: share(members, "later_years") ?? first,
                    oneTime: share(members, "one_time") ?? first)
            },
            taxes: file.entries(root, "taxes", .tax) { members in
                guard let from = members.firstDay, let storefronts = texts(members, "storefronts"),
                    let included = share(members, "included")
                else { return nil }
                return .init(from: from, storefronts: storefronts, included: included)
            })
        check(root, "program", commission.memberships.map { Scope($0.from, [$0.apps]) }, &file)
        check(
            root, "rates",
            commission.rates.map { Scope($0.from, [$0.storefronts, $0.program.map { [$0.rawValue] }]) }, &file)
        check(root, "taxes", commission.taxes.map { Scope($0.from, [$0.storefronts]) }, &file)
        if let first = commission.rates.first, first.storefronts != nil || first.program != nil {
            file.complain(
                file.nodes(root, "rates").first,
                "the first rate is for all storefronts and programs, so that each purchase has one; write it first")
        }
        return commission
    }

    // MARK: The order of entries

    /// The purchases that an entry applies to.
    private struct Scope {
        let from: CalendarDay
        /// By each of its members, all where nil.
        let parts: [Set<String>?]

        init(_ from: CalendarDay, _ parts: [[String]?]) {
            self.from = from
            self.parts = parts.map { $0.map { Set($0) } }
        }

        /// Whether it applies to all purchases of another one.
        func covers(_ other: Scope) -> Bool {
            zip(parts, other.parts).allSatisfy { own, others in
                own.map { own in others.map { own.isSuperset(of: $0) } ?? false } ?? true
            }
        }
    }

    private static func check(_ root: Node, _ list: String, _ scopes: [Scope], _ file: inout FigureFileReader) {
        let nodes = file.nodes(root, list)
        for (place, scope) in scopes.enumerated().dropFirst() where place < nodes.count {
            let before = scopes[place - 1]
            if scope.from < before.from {
                file.complain(
                    nodes[place],
                    "\(scope.from) stands after \(before.from) in \(list): the entries stand by their days")
            } else if let hidden = scopes[..<place].lastIndex(where: { $0.from == scope.from && scope.covers($0) }) {
                let line = nodes[hidden].mark.map { " on line \($0.line)" } ?? ""
                file.complain(
                    nodes[place],
                    "this is for all that the entry of the same day\(line) is for, which would never count: take one out"
                )
            }
        }
    }

    // MARK: Single values of a file that fits its schema

    private static func program(_ members: StrictMapping) -> Commission.Program? {
        members["program"]?.scalar.flatMap { Commission.Program(rawValue: $0.string) }
    }

    private static func share(_ members: StrictMapping, _ name: String) -> PriceShare? {
        members[name]?.scalar.flatMap { PriceShare($0.string) }
    }

    private static func texts(_ members: StrictMapping, _ name: String) -> [String]? {
        members[name]?.sequence?.compactMap { $0.scalar?.string }
    }
}

extension Commission {
    /// Reads a table in YAML, of at most 1 MiB:
    ///
    ///     program:
    ///       - {from: 2024-01-01, program: small_business}
    ///     rates:
    ///       - {from: 2016-06-13, first_year: 30%, later_years: 15%}
    ///       - {from: 2021-01-01, program: small_business, first_year: 15%}
    ///     taxes:
    ///       - {from: 2021-01-01, storefronts: [DEU], included: 15.966%}
    ///
    /// Nothing is ignored.
    package init(yaml text: String) throws(FigureFileFault) {
        self = try FigureFileReader.read(text, .commission, empty: "rates: and below it a list") { root, file in
            CommissionReader.read(root, &file)
        }
    }
}
