import Base
package import FigureStore

extension CommandAnswer {
    /// The result of an import.
    package init(_ taken: RateImport) {
        let known = taken.rates - taken.added - taken.corrected
        self.init(
            taken, .imported,
            text: "\(taken.rates) rates: \(taken.added) are new, \(taken.corrected) are corrected, \(known) were known")
    }

    /// The known rates of each currency.
    package init(_ known: [KnownRates]) {
        let shape = CommandShape<KnownRates>.known
        self.init(
            .object([.init("currencies", shape.values(of: known))]),
            text: known.isEmpty
                ? "no rates are known; storehook rates import takes a file of them" : shape.table(of: known),
            csv: shape.csv(of: known))
    }
}

extension CommandShape<RateImport> {
    fileprivate static var imported: Self {
        .init([
            .init("rates", \.rates), .init("added", \.added), .init("corrected", \.corrected),
        ])
    }
}

extension CommandShape<KnownRates> {
    fileprivate static var known: Self {
        .init([
            .init("currency", column: "CURRENCY", \.currency), .init("first", column: "FIRST DAY", \.first),
            .init("last", column: "LAST DAY", \.last), .init("days", \.days),
            .column("DAYS", isNumeric: true) { "\($0.days)" }, .init("uncovered", \.uncovered),
            .column("UNCOVERED", isNumeric: true) { "\($0.uncovered)" }, .init("corrected", \.corrected),
            .column("CORRECTED", isNumeric: true) { "\($0.corrected)" },
            .init("imported_at", column: "IMPORTED", \.importedAt),
        ])
    }
}
