/// What each group of a company's login may do here: `STOREHOOK_CONSOLE_GROUPS`.
package struct StaffGroups: Sendable, Hashable {
    /// A role, and the apps that it is for.
    package struct Standing: Sendable, Hashable {
        /// How much.
        package var role: StaffRole
        /// The bundle ids of the apps; nil for all.
        package var apps: [String]?

        /// Memberwise.
        package init(role: StaffRole, apps: [String]?) {
            self.role = role
            self.apps = apps
        }
    }

    private let standings: [String: Standing]

    /// Reads `ops=admin` and `help=support:com.a|com.b`, each an entry.
    /// - Throws: ``Fault`` naming the first entry that is wrong by its place.
    package init(_ entries: [String]) throws(Fault) {
        var standings: [String: Standing] = [:]
        for (place, entry) in entries.enumerated() {
            guard let read = Self.read(entry), standings[read.group] == nil else { throw Fault(place: place + 1) }
            standings[read.group] = read.standing
        }
        guard !standings.isEmpty else { throw Fault(place: 0) }
        self.standings = standings
    }

    /// Which entry is wrong.
    package struct Fault: Error, Sendable, Hashable {
        /// From 1 on; 0 where there is none at all.
        package let place: Int
    }

    /// All apps that any group is of.
    package var apps: Set<String> { Set(standings.values.flatMap { $0.apps ?? [] }) }

    /// What a member of these groups may do: the highest role counts, for the apps of all groups with that role. Nil where no group is known.
    package func standing(of groups: some Sequence<String>) -> Standing? {
        let held = groups.compactMap { standings[$0] }
        guard let role = held.map(\.role).max() else { return nil }
        let highest = held.filter { $0.role == role }
        if highest.contains(where: { $0.apps == nil }) { return Standing(role: role, apps: nil) }
        return Standing(role: role, apps: Set(highest.flatMap { $0.apps ?? [] }).sorted())
    }

    private static func read(_ entry: String) -> (group: String, standing: Standing)? {
        // A group may have an equals sign, as names of directories do: the last one counts.
        guard let equals = entry.lastIndex(of: "="), equals != entry.startIndex else { return nil }
        let parts = entry[entry.index(after: equals)...].split(
            separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let role = parts.first.flatMap({ StaffRole(rawValue: String($0)) }) else { return nil }
        var apps: [String]?
        if parts.count == 2 {
            let named = parts[1].split(separator: "|", omittingEmptySubsequences: false).map { String($0) }
            guard (1...100).contains(named.count), named.allSatisfy({ (1...255).contains($0.unicodeScalars.count) })
            else { return nil }
            apps = Set(named).sorted()
        }
        return (String(entry[..<equals]), Standing(role: role, apps: apps))
    }
}
