import Base
import Foundation

/// One thing that a catalog says otherwise than another one, in the words of the file.
public struct CatalogContentChange: Sendable, Hashable {
    /// Where in the file it stands.
    public enum Part: String, Sendable, Hashable, CaseIterable {
        case tier, product, feature, alias, trial
        case timeZone = "time_zone"
        case reportingCurrency = "reporting_currency"
        case fiscalMonths = "fiscal_months"
        case warningDays = "warning_days"
        case refunds
    }

    /// Where it stands.
    public var part: Part
    /// The id of the tier, product, feature or alias, or the place of a rule of refunds, from 1 on. Nil where there is only one, or where the
    /// order of all is meant.
    public var id: String?
    /// The member, like `price`, or `limits.pro`; nil where the whole entry is new or gone.
    public var member: String?
    /// What the first catalog says; nil where it says nothing.
    public var before: String?
    /// What the second catalog says; nil where it says nothing.
    public var after: String?

    /// A change.
    public init(_ part: Part, _ id: String? = nil, _ member: String? = nil, before: String?, after: String?) {
        self.part = part
        self.id = id
        self.member = member
        self.before = before
        self.after = after
    }
}

extension Catalog {
    /// All that another catalog says otherwise; empty exactly where the two are equal.
    public func changes(to after: Catalog) -> [CatalogContentChange] {
        guard self != after else { return [] }
        var changes = ContentChanges()
        changes.compare(tiers, after.tiers, .tier, id: \.id) { $0.members }
        changes.compare(products, after.products, .product, id: \.id) { $0.members }
        changes.compare(features, after.features, .feature, id: \.id) { $0.members }
        for name in Set(aliases.keys).union(after.aliases.keys).sorted() {
            changes.add(.alias, name, nil, aliases[name], after.aliases[name])
        }
        changes.compareMembers(.trial, nil, trial?.members, after.trial?.members)
        changes.add(.timeZone, nil, nil, timeZone.identifier, after.timeZone.identifier)
        changes.add(.reportingCurrency, nil, nil, reportingCurrency, after.reportingCurrency)
        changes.add(.fiscalMonths, nil, nil, "\(hasFiscalMonths)", "\(after.hasFiscalMonths)")
        changes.add(.warningDays, nil, nil, "\(warningDays)", "\(after.warningDays)")
        changes.compareRules(refunds?.rules ?? [], after.refunds?.rules ?? [])
        return changes.all
    }
}

private struct ContentChanges {
    var all: [CatalogContentChange] = []

    mutating func add(
        _ part: CatalogContentChange.Part, _ id: String?, _ member: String?, _ before: String?, _ after: String?
    ) {
        if before != after { all.append(CatalogContentChange(part, id, member, before: before, after: after)) }
    }

    /// Entries with ids of their own, in an order that means something.
    mutating func compare<Entry>(
        _ before: [Entry], _ after: [Entry], _ part: CatalogContentChange.Part, id: KeyPath<Entry, String>,
        members: (Entry) -> [(String, String?)]
    ) {
        let (old, new) = (before.map { $0[keyPath: id] }, after.map { $0[keyPath: id] })
        let kept = Set(old).intersection(new)
        // Where a new tier stands among the others says which is higher; of others their own order is enough.
        let (order, newOrder) = part == .tier ? (old, new) : (old.filter(kept.contains), new.filter(kept.contains))
        add(part, nil, "order", order.joined(separator: ", "), newOrder.joined(separator: ", "))
        for entry in before {
            let entryID = entry[keyPath: id]
            let other = after.first { $0[keyPath: id] == entryID }
            compareMembers(part, entryID, members(entry), other.map(members))
        }
        for entry in after where !kept.contains(entry[keyPath: id]) {
            compareMembers(part, entry[keyPath: id], nil, members(entry))
        }
    }

    /// Rules of refunds, each by its place, for the first that matches decides. What stands around those that differ is left out, so
    /// that a new rule is one change, wherever it stands.
    mutating func compareRules(_ before: [ConsumptionRule], _ after: [ConsumptionRule]) {
        func content(_ rule: ConsumptionRule) -> ConsumptionRule {
            var rule = rule
            rule.number = 0
            return rule
        }
        let (old, new) = (before.map(content), after.map(content))
        let start = zip(old, new).prefix { $0 == $1 }.count
        let rest = min(old.count, new.count) - start
        let end = zip(old.reversed(), new.reversed()).prefix(rest).prefix { $0 == $1 }.count
        let (gone, come) = (old[start..<old.count - end], new[start..<new.count - end])
        if gone.count == come.count {
            for (place, (was, becomes)) in zip(gone, come).enumerated() {
                compareMembers(.refunds, "\(start + place + 1)", was.members, becomes.members)
            }
        } else {
            for (place, rule) in gone.enumerated() {
                compareMembers(.refunds, "\(start + place + 1)", rule.members, nil)
            }
            for (place, rule) in come.enumerated() {
                compareMembers(.refunds, "\(start + place + 1)", nil, rule.members)
            }
        }
    }

    mutating func compareMembers(
        _ part: CatalogContentChange.Part, _ id: String?, _ before: [(String, String?)]?, _ after: [(String, String?)]?
    ) {
        guard let before, let after else {
            add(part, id, nil, before.map(Self.summary), after.map(Self.summary))
            return
        }
        let (old, new) = (Dictionary(before) { $1 }, Dictionary(after) { $1 })
        var names = before.map(\.0)
        names += after.map(\.0).filter { !names.contains($0) }
        for name in names { add(part, id, name, old[name] ?? nil, new[name] ?? nil) }
    }

    /// An entry in a line: what it says.
    private static func summary(_ members: [(String, String?)]) -> String {
        let said = members.compactMap { name, text in text.map { "\(name) \($0)" } }
        return said.isEmpty ? "there" : said.joined(separator: ", ")
    }
}

/// An amount in thousandths, as the file writes it: `4.99`.
private func amount(_ milliunits: Int64) -> String {
    let (units, rest) = milliunits.magnitude.quotientAndRemainder(dividingBy: 1000)
    var decimals = String(1000 + rest).dropFirst()
    if decimals.hasSuffix("0") { decimals = decimals.dropLast() }
    return "\(milliunits < 0 ? "-" : "")\(units).\(decimals)"
}

extension Catalog.Tier {
    fileprivate var members: [(String, String?)] { [("name", names?.file)] }
}

extension Catalog.Product {
    fileprivate var members: [(String, String?)] {
        [
            ("app", bundleID), ("product_id", productID), ("tier", tier), ("period", period.rawValue),
            ("lasts", lasts.map { "\($0)" }), ("price", price.map(amount)), ("currency", currency),
            ("price_text", priceTexts?.file), ("name", names?.file), ("text", texts?.file),
            ("period_name", periodNames?.file), ("sort_order", "\(sortOrder)"),
            ("popular", isPopular ? "true" : "false"),
            ("group", group), ("introductory.kind", introductory?.kind.rawValue),
            ("introductory.duration", introductory.map { "\($0.duration)" }),
            ("introductory.price", introductory?.price.map(amount)),
        ]
    }
}

extension Catalog.Feature {
    fileprivate var members: [(String, String?)] {
        [("name", names?.file), ("unit", units?.file)]
            + limits.sorted { $0.key < $1.key }.map { ("limits.\($0.key)", "\($0.value)") }
    }
}

extension Catalog.Trial {
    fileprivate var members: [(String, String?)] {
        [("tier", tier), ("days", "\(days)"), ("products", products.joined(separator: ", "))]
    }
}

extension LocalizedText {
    /// In a line: the fallback first.
    fileprivate var file: String {
        let others = texts.filter { $0.key != language }.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return (["\(language): \(fallback)"] + others).joined(separator: " | ")
    }
}
