import Base
import Yams

/// Reads a commission table and reports all that is wrong with it.
struct CommissionReader {
    private(set) var faults: [YAMLFault] = []

    /// The table of a text; nil where anything is wrong.
    mutating func read(_ text: String) -> Commission? {
        let root: Node
        do throws(YAMLFault) {
            try YAMLText.refuseAliases(in: text, Self.what)
            guard let node = try YAMLText.root(of: text, Self.what) else {
                throw YAMLFault(line: nil, message: "it is empty; write rates: and below it a list")
            }
            root = node
        } catch {
            faults.append(error)
            return nil
        }
        ValueSchema.strict(.commission).check(root, Self.what, &faults)
        // What is contradictory is looked for in values that can be read.
        guard faults.isEmpty else { return nil }
        let commission = Commission(
            memberships: entries(root, "program", .membership) { members in
                guard let from = Self.day(members), let program = Self.program(members) else { return nil }
                return .init(from: from, apps: Self.texts(members, "apps"), program: program)
            },
            rates: entries(root, "rates", .rate) { members in
                guard let from = Self.day(members), let first = Self.share(members, "first_year") else { return nil }
                return .init(
                    from: from, storefronts: Self.texts(members, "storefronts"), program: Self.program(members),
                    firstYear: first, laterYears: Self.share(members, "later_years") ?? first,
                    oneTime: Self.share(members, "one_time") ?? first)
            },
            taxes: entries(root, "taxes", .tax) { members in
                guard let from = Self.day(members), let storefronts = Self.texts(members, "storefronts"),
                    let included = Self.share(members, "included")
                else { return nil }
                return .init(from: from, storefronts: storefronts, included: included)
            })
        check(nodes(root, "program"), "program", commission.memberships.map { Scope($0.from, [$0.apps]) })
        check(
            nodes(root, "rates"), "rates",
            commission.rates.map { Scope($0.from, [$0.storefronts, $0.program.map { [$0.rawValue] }]) })
        check(nodes(root, "taxes"), "taxes", commission.taxes.map { Scope($0.from, [$0.storefronts]) })
        if let first = commission.rates.first, first.storefronts != nil || first.program != nil {
            complain(
                nodes(root, "rates").first,
                "the first rate is for all storefronts and programs, so that each purchase has one; write it first")
        }
        return faults.isEmpty ? commission : nil
    }

    // MARK: The order of entries

    /// To what an entry applies.
    private struct Scope {
        let from: CalendarDay
        /// By each of its members, all where nil.
        let parts: [Set<String>?]

        init(_ from: CalendarDay, _ parts: [[String]?]) {
            self.from = from
            self.parts = parts.map { $0.map { Set($0) } }
        }

        /// Whether it applies to all to which another does.
        func covers(_ other: Scope) -> Bool {
            zip(parts, other.parts).allSatisfy { own, others in
                own.map { own in others.map { own.isSuperset(of: $0) } ?? false } ?? true
            }
        }
    }

    private mutating func check(_ nodes: [Node], _ list: String, _ scopes: [Scope]) {
        for (place, scope) in scopes.enumerated().dropFirst() where place < nodes.count {
            let before = scopes[place - 1]
            if scope.from < before.from {
                complain(
                    nodes[place],
                    "\(scope.from) stands after \(before.from) in \(list): the entries stand by their days")
            } else if let hidden = scopes[..<place].lastIndex(where: { $0.from == scope.from && scope.covers($0) }) {
                let line = nodes[hidden].mark.map { " on line \($0.line)" } ?? ""
                complain(
                    nodes[place],
                    "this is for all that the entry of the same day\(line) is for, which would never count: take one out"
                )
            }
        }
    }

    private mutating func complain(_ node: Node?, _ message: String) {
        guard faults.count < YAMLText.mostFaults else { return }
        faults.append(node.map { YAMLFault($0, message) } ?? YAMLFault(line: nil, message: message))
    }

    // MARK: Single values, whose schemas were checked

    private func nodes(_ root: Node, _ list: String) -> [Node] {
        var told: [YAMLFault] = []
        return StrictMapping(root, .commission, faults: &told)[list]?.sequence.map { Array($0) } ?? []
    }

    private func entries<Entry>(
        _ root: Node, _ list: String, _ object: StrictObject, _ entry: (StrictMapping) -> Entry?
    ) -> [Entry] {
        nodes(root, list).compactMap { node in
            var told: [YAMLFault] = []
            return entry(StrictMapping(node, object, faults: &told))
        }
    }

    private static func day(_ members: StrictMapping) -> CalendarDay? {
        members["from"]?.scalar.flatMap { CalendarDay($0.string) }
    }

    private static func program(_ members: StrictMapping) -> Commission.Program? {
        members["program"]?.scalar.flatMap { Commission.Program(rawValue: $0.string) }
    }

    private static func share(_ members: StrictMapping, _ name: String) -> PriceShare? {
        members[name]?.scalar.flatMap { PriceShare($0.string) }
    }

    private static func texts(_ members: StrictMapping, _ name: String) -> [String]? {
        members[name]?.sequence?.compactMap { $0.scalar?.string }
    }

    private static let what = "a commission table"
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
    package init(yaml text: String) throws(CommissionFault) {
        let (read, faults) = LargeStack.run {
            var reader = CommissionReader()
            let commission = reader.read(text)
            return (commission, reader.faults)
        }
        guard let read else {
            let sorted = faults.enumerated().sorted {
                ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset)
            }
            throw CommissionFault(findings: sorted.map(\.element))
        }
        self = read
    }
}
