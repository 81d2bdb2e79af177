import AppStorePayloads
import Base
import Foundation
import Yams

/// Reads a catalog's file and reports all findings. Single nodes were checked by their schemas; here they are combined,
/// and contradictions are found.
struct CatalogReader {
    private(set) var findings: [CatalogFinding] = []
    /// The language of texts without one.
    private var language = "en"

    /// The catalog of a file, if it has no errors.
    mutating func read(_ text: String) -> Catalog? {
        let root: Node
        do throws(YAMLFault) {
            try YAMLText.refuseAliases(in: text, "a catalog")
            guard let node = try YAMLText.root(of: text, "a catalog") else {
                throw YAMLFault(line: nil, message: "it is empty; write tiers: and below it a list, each with id:")
            }
            root = node
        } catch {
            findings.append(CatalogFinding(error))
            return nil
        }
        var faults: [YAMLFault] = []
        ValueSchema.strict(.catalog).check(root, "a catalog", &faults)
        findings = faults.prefix(YAMLText.mostFaults).map { CatalogFinding($0) }
        let catalog = catalog(CatalogEntry(root, .catalog))
        return findings.contains { $0.severity == .error } ? nil : catalog
    }

    private mutating func catalog(_ file: CatalogEntry) -> Catalog {
        if let tag = file.text("language") {
            language = tag
            if LanguageTag(tag).parts.isEmpty {
                complain(file["language"], "language is a language tag, like en or zh-Hans")
            }
        }
        let tiers = tiers(file)
        let products = products(file, tiers)
        let features = features(file, tiers)
        return Catalog(
            tiers: tiers, products: products, features: features, aliases: aliases(file, features),
            trial: trial(file, tiers), timeZone: timeZone(file), reportingCurrency: reportingCurrency(file),
            hasFiscalMonths: file.isSet("fiscal_months"),
            warningDays: file.number("warning_days") ?? Catalog.usualWarningDays, refunds: refunds(file, products))
    }

    private mutating func timeZone(_ file: CatalogEntry) -> TimeZone {
        guard let name = file.text("time_zone"), name != "UTC" else { return .gmt }
        // For Foundation abbreviations and offsets are zones, too; they have no daylight saving of their own.
        if name.contains("/"), let zone = TimeZone(identifier: name) { return zone }
        complain(
            file["time_zone"],
            "there is no time zone \(YAMLFault.quoting(name)); write one of IANA's list, like Asia/Shanghai, or UTC")
        return .gmt
    }

    private mutating func reportingCurrency(_ file: CatalogEntry) -> String? {
        guard let code = file.text("reporting_currency") else { return nil }
        if CurrencyCode.isKnown(code) { return code }
        complain(
            file["reporting_currency"],
            "there is no currency \(YAMLFault.quoting(code)); write one of ISO 4217 in capital letters, like EUR")
        return nil
    }

    private mutating func tiers(_ file: CatalogEntry) -> [Catalog.Tier] {
        var places: [String: Int] = [:]
        return file.entries("tiers").compactMap { entry in
            let names = texts(entry, "name")
            guard let id = entry.text("id"), isNew(id, entry["id"], "tier", &places) else { return nil }
            return Catalog.Tier(id: id, names: names)
        }
    }

    private mutating func aliases(_ file: CatalogEntry, _ features: [Catalog.Feature]) -> [String: String] {
        let ids = Set(features.map(\.id))
        var aliases: [String: String] = [:]
        for (node, name, feature) in file.values("aliases") {
            if ids.contains(name) {
                complain(node, "\(name) is a feature itself; take the alias out, or name it otherwise")
            }
            if !ids.contains(feature) { complain(node, "alias \(name): there is no feature \(feature)") }
            aliases[name] = feature
        }
        return aliases
    }

    private mutating func trial(
        _ file: CatalogEntry, _ tiers: [Catalog.Tier]
    ) -> Catalog.Trial? {
        guard let entry = file.entry("trial") else { return nil }
        let tier = entry.text("tier")
        if let tier {
            requireTier(tier, entry["tier"], tiers, "a trial")
            if tier == tiers.first?.id { complain(entry["tier"], "a trial of \(tier) gives nothing: everybody has it") }
        }
        // Faulty products included: their faults are reported at their own lines.
        let ids = Set(file.entries("products").compactMap { $0.text("id") })
        var places: [String: Int] = [:]
        let offered = entry.texts("products").compactMap { node, id -> String? in
            guard isNew(id, node, "product", &places) else { return nil }
            if !ids.contains(id) { complain(node, "a trial is offered with \(id), and there is no product of that id") }
            return id
        }
        return tier.map { Catalog.Trial(tier: $0, days: entry.number("days") ?? 1, products: offered) }
    }

    // MARK: What every part needs

    /// A text in its languages; nil where it is missing.
    mutating func texts(_ entry: CatalogEntry, _ name: String) -> LocalizedText? {
        guard let node = entry[name] else { return nil }
        if let text = node.scalar?.string { return LocalizedText(text, language: language) }
        var texts: [String: String] = [:]
        var tags: Set<LanguageTag> = []
        for (key, value) in node.mapping ?? [:] {
            guard let tag = key.scalar?.string, let text = value.scalar?.string else { continue }
            texts[tag] = text
            if !tags.insert(LanguageTag(tag)).inserted { complain(key, "\(name) has \(YAMLFault.quoting(tag)) twice") }
        }
        guard let own = texts.first(where: { LanguageTag($0.key) == LanguageTag(language) }) else {
            if node.mapping?.isEmpty == false {
                complain(
                    node,
                    "\(name) has no text in \(language), for readers of none of the others; add it, or say language: "
                        + "with the one that all texts have")
            }
            return nil
        }
        texts[own.key] = nil
        return LocalizedText(own.value, language: own.key, others: texts)
    }

    /// Whether an id is new; otherwise its earlier line is reported.
    mutating func isNew(_ id: String, _ node: Node?, _ what: String, _ places: inout [String: Int]) -> Bool {
        if let line = places[id] {
            complain(node, "\(what) \(id) is on line \(line) already")
            return false
        }
        places[id] = node?.mark?.line ?? 0
        return true
    }

    /// Reports a tier that does not exist. Where no tier can be read, that has been reported.
    mutating func requireTier(_ tier: String, _ node: Node?, _ tiers: [Catalog.Tier], _ what: String) {
        guard !tiers.isEmpty, !tiers.contains(where: { $0.id == tier }) else { return }
        let known = tiers.prefix(10).map(\.id).joined(separator: ", ")
        complain(
            node,
            "\(what) has tier \(tier), which is none of the tiers (\(known)); write one of them, or add it to tiers")
    }

    mutating func complain(_ node: Node?, _ message: String) { add(.error, node, message) }

    mutating func complain(_ fault: YAMLFault) {
        guard findings.count < 2 * YAMLText.mostFaults else { return }
        findings.append(CatalogFinding(fault))
    }

    mutating func warn(_ node: Node?, _ message: String) { add(.warning, node, message) }

    private mutating func add(_ severity: CatalogFinding.Severity, _ node: Node?, _ message: String) {
        // Warnings leave room, so that no error is lost to them.
        guard findings.count < (severity == .error ? 2 : 1) * YAMLText.mostFaults else { return }
        let value = node?.scalar.map { YAMLFault.quoting($0.string) }
        findings.append(
            CatalogFinding(severity, line: node?.mark?.line, column: node?.mark?.column, message, value: value))
    }
}

extension CatalogFinding {
    /// An error that makes the file useless.
    fileprivate init(_ fault: YAMLFault) {
        self.init(.error, line: fault.line, column: fault.column, fault.message, value: fault.value)
    }
}
