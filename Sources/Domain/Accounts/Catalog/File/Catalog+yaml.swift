import Base

extension Catalog {
    /// Reads a file and reports its errors and warnings, in the order of the lines.
    /// - Returns: the catalog, if there are no errors; and the findings.
    public static func check(yaml text: String) -> (catalog: Catalog?, findings: [CatalogFinding]) {
        LargeStack.run {
            var reader = CatalogReader()
            let catalog = reader.read(text)
            let sorted = reader.findings.enumerated().sorted {
                ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset)
            }
            return (catalog: catalog, findings: sorted.map(\.element))
        }
    }

    /// Reads a file in YAML, of at most 1 MiB:
    ///
    ///     app: com.example.app
    ///     tiers:
    ///       - id: free
    ///       - id: pro
    ///     products:
    ///       - {id: monthly, product_id: com.example.pro.monthly, tier: pro, period: month}
    ///     features:
    ///       - id: export
    ///         limits: {free: 5 per day, pro: unlimited}
    ///
    /// Nothing is ignored: see ``check(yaml:)``, which also warns.
    public convenience init(yaml text: String) throws(CatalogFault) {
        let (catalog, findings) = Self.check(yaml: text)
        guard let catalog else { throw CatalogFault(findings.filter { $0.severity == .error }) }
        self.init(
            tiers: catalog.tiers, products: catalog.products, features: catalog.features, aliases: catalog.aliases,
            trial: catalog.trial, timeZone: catalog.timeZone, reportingCurrency: catalog.reportingCurrency,
            hasFiscalMonths: catalog.hasFiscalMonths, warningDays: catalog.warningDays, refunds: catalog.refunds)
    }
}
