package import Base
package import FigureStore
import Figures
import Subscriptions

extension CommandAnswer {
    /// A figure by period.
    package init(_ answer: FigureAnswer) {
        let shape = CommandShape<FigureLine>.figure(answer)
        let conversion = answer.conversion
        let lines = FigureLine.lines(of: answer)
        let question = answer.question
        let about = question.figure.about
        let zone =
            Self.closings(answer)
            ?? answer.zone.map { "Days of \($0)." } ?? "No day was summed yet: a worker does that within seconds."
        let taxed = answer.isTaxIncluded.map { [JSONValue.Member("tax_included", $0.json)] } ?? []
        let untaxed = answer.isTaxIncluded == true ? " Where the commission table has no tax, amounts include it." : ""
        let partial =
            lines.contains { $0.isPartial } ? "\n* For some customers of the period that day has not ended yet." : ""
        let days: (from: String?, to: String?) =
            question.isNothing
            ? (nil, nil) : (question.days.lowerBound.description, question.days.upperBound.description)
        let then = question.until.map { "\nWhat is known now of what had ended by the end of \($0)." } ?? ""
        let closed =
            answer.closed.map { months in
                [
                    JSONValue.Member("closed", CommandShape.closed.values(of: months)),
                    Self.unrecorded(answer.unrecorded),
                ]
            } ?? []
        self.init(
            .object(
                closed + [
                    .init("figure", question.figure.rawValue.json), .init("about", about.json),
                    .init("zone", answer.zone.json), .init("environment", question.environment.json),
                    .init("from", days.from.json), .init("to", days.to.json),
                    .init("by", question.step.rawValue.json), .init("split", question.split?.rawValue.json ?? .null),
                    .init("in", question.currency.json), .init("rates_corrected_at", answer.ratesCorrectedAt.json),
                    .init("not_converted", CommandShape.unconverted.values(of: answer.unconverted)),
                ] + taxed + [.init("cells", shape.values(of: lines))]),
            text: (lines.isEmpty ? "nothing on these days" : shape.table(of: lines))
                + "\n\n\(about)\(untaxed) \(zone)\(conversion)\(partial)\(then)",
            csv: shape.csv(of: lines))
    }

    /// A page of the rows of a figure.
    /// - Parameter currency: the currency of the question; nil for each currency by itself.
    package init(_ page: ListPage<FigureRow>, in currency: String?) { self.init(page, "rows", .row(in: currency)) }
}

extension FigureAnswer {
    /// Sentences about the conversion; empty without one.
    fileprivate var conversion: String {
        guard let currency = question.currency else { return "" }
        var lines = ["Each amount is in \(currency) by the rates of its transaction's day."]
        if let ratesCorrectedAt { lines.append("Rates corrected since \(ratesCorrectedAt).") }
        if !unconverted.isEmpty {
            let parts = unconverted.map { lost in
                let amount = Money(milliunits: lost.amount, currency: lost.currency).amountWords
                let currency = lost.currency.isEmpty ? "of no currency" : lost.currency
                return "\(amount) \(currency) in \(lost.count) \(lost.count == 1 ? "row" : "rows")"
            }
            lines.append(
                "No rate is known for \(parts.joined(separator: ", ")): they have lines of their own. storehook rates import adds rates."
            )
        }
        return "\n" + lines.joined(separator: " ")
    }
}

extension CommandShape<FigureAnswer.Unconverted> {
    fileprivate static var unconverted: Self {
        .init([.init("currency", \.currency), .init("count", \.count), .init("amount", \.amount)])
    }
}

/// A value of a figure as a line.
private struct FigureLine: Sendable {
    let cell: FigureAnswer.Cell
    let name: String
    let standing: FigureAnswer.Standing
    let isRecorded: Bool
    /// The length of its bar, in eighths of a character.
    let bar: Int64
    /// The figure's columns in a table.
    let shown: [FigureColumn]

    /// The longest bar, in characters.
    private static let width: Int64 = 20

    static func lines(of answer: FigureAnswer) -> [FigureLine] {
        let columns = answer.question.figure.columns
        guard let first = columns.first else { return [] }
        let shown = columns.filter { $0.showing != .none }
        var most: [String?: Int64] = [:]
        for cell in answer.cells {
            most[cell.currency] = max(most[cell.currency] ?? 0, first.value(cell.sums) ?? 0)
        }
        return answer.cells.map { cell in
            let (value, largest) = (first.value(cell.sums) ?? 0, most[cell.currency] ?? 0)
            let bar =
                largest > 0 && value > 0 ? Int64(clamping: Int128(value) * Int128(width * 8) / Int128(largest)) : 0
            return FigureLine(
                cell: cell, name: answer.name(of: cell.period), standing: answer.standings[cell.period] ?? .init(),
                isRecorded: answer.recorded.contains(cell.period), bar: bar, shown: shown)
        }
    }

    /// The words for what is not final; nil where all is.
    var reservations: String? {
        let words = [
            standing.isRunning ? "running" : nil, standing.isPending ? "not up to date" : nil,
            standing.isProven ? nil : "not proven",
        ].compactMap(\.self)
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    /// Blocks of eighths of a character.
    var drawn: String {
        let (whole, rest) = bar.quotientAndRemainder(dividingBy: 8)
        let part = rest == 0 ? "" : String(["▏", "▎", "▍", "▌", "▋", "▊", "▉"][Int(rest) - 1])
        return String(repeating: "█", count: Int(whole)) + part
    }

    /// Whether a value in a table is of a part of the customers.
    var isPartial: Bool { shown.contains { $0.isPartial(cell.sums) } }

    /// A value for people.
    func words(_ column: FigureColumn) -> String? {
        guard let value = column.value(cell.sums) else { return nil }
        switch column.unit {
        case .count: return "\(value)"
        case .money: return Money(milliunits: value, currency: cell.currency ?? "").amountWords
        case .share where column.showing == .brief:
            return "\((value + 500) / 1000) %\(column.isPartial(cell.sums) ? "*" : "")"
        case .share: return FigureColumn.percent(value)
        }
    }
}

extension CommandShape<FigureLine> {
    fileprivate static func figure(_ answer: FigureAnswer) -> Self {
        var fields: [Field] = [.init("period", column: "PERIOD", \.name)]
        let isConverted = answer.question.currency != nil
        if let split = answer.question.split, split != .currency || !answer.question.figure.isMoney || isConverted {
            // The column of the transactions' currency needs another name than that of the amounts' currency.
            let name = split == .currency && isConverted ? "of_currency" : split.rawValue
            fields.append(
                .init(name, column: name.uppercased().replacing("_", with: " ")) { $0.cell.group ?? "" })
        }
        if answer.question.figure.isMoney {
            fields.append(.init("currency", column: "CURRENCY") { $0.cell.currency ?? "" })
        }
        for column in answer.question.figure.columns {
            fields.append(.init(column.name) { column.value($0.cell.sums) })
            if column.showing == .none { continue }
            fields.append(.column(column.heading, isNumeric: true) { $0.words(column) })
        }
        if isConverted {
            fields.append(.init("not_converted") { $0.cell.isUnconverted ? $0.cell.sums.count : 0 })
            fields.append(.column("NOT CONVERTED") { $0.cell.isUnconverted ? "\($0.cell.sums.count)" : nil })
        }
        if answer.question.figure.columns.allSatisfy({ $0.showing == .exact }) {
            fields.append(.column("") { $0.drawn.isEmpty ? " " : $0.drawn })
        }
        if answer.question.until != nil {
            fields += [
                .init("recorded", \.isRecorded), .column("RECORDED") { $0.isRecorded ? "in a closed month" : nil },
            ]
        }
        return Self(
            fields + [
                .init("running", \.standing.isRunning), .init("up_to_date") { !$0.standing.isPending },
                .init("proven", \.standing.isProven), .column("NOT FINAL") { $0.reservations },
            ])
    }
}

extension FigureColumn {
    /// A share as people write it: `12.34 %`.
    static func percent(_ share: Int64) -> String {
        let (percent, rest) = share.magnitude.quotientAndRemainder(dividingBy: 1000)
        return "\(share < 0 ? "-" : "")\(percent).\(String(1000 + rest).dropFirst().prefix(2)) %"
    }

    /// `refundRate` as `REFUND RATE`.
    fileprivate var heading: String {
        name.reduce(into: "") { text, letter in
            if letter.isUppercase { text += " " }
            text += letter.uppercased()
        }
    }
}

extension CommandShape<FigureRow> {
    fileprivate static func row(in currency: String?) -> Self {
        .init(
            [
                .init("at", column: "AT", \.at), .init("measure", column: "WHAT", \.measure.rawValue),
                .init("order", column: "ORDER", \.order), .init("bundle_id", column: "APP", \.bundleID),
                .init("product_id", column: "PRODUCT", \.productID),
                .init("storefront", column: "COUNTRY", \.storefront),
                .init("amount", \.amount), .init("currency", \.currency),
                .column("AMOUNT", isNumeric: true) { Money($0.amount, in: $0.currency)?.words },
                .init("transaction_id", column: "TRANSACTION", \.transactionID),
            ]
                + (currency == nil
                    ? []
                    : [
                        .init("in") { _ in currency }, .init("converted", \.converted),
                        .column("CONVERTED", isNumeric: true) { Money($0.converted, in: currency)?.words },
                    ]))
    }
}
