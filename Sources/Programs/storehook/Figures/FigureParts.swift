import ArgumentParser
import FigureStore
import Operations

/// A word of the command line for the periods or the split of a figure.
protocol FigureWord: CaseIterable, RawRepresentable, Sendable where RawValue == String {}

/// The length of a figure's periods.
protocol FigureStep: FigureWord {
    /// The default.
    static var month: Self { get }
}

extension FigureQuestion.Step: FigureStep {}
extension FigureQuestion.Split: FigureWord {}
extension CalendarStep: FigureStep {}
extension UserFigure.Split: FigureWord {}

extension FigureWord {
    /// The words in a sentence: `month, fiscal-month or day`.
    fileprivate static var choice: String {
        let words = allCases.map(\.rawValue)
        return (words.count > 1 ? words.dropLast().joined(separator: ", ") + " or " : "") + (words.last ?? "")
    }
}

/// The periods and the split of a figure.
struct FigureParts<Step: FigureStep, Split: FigureWord>: Sendable {
    var step = Step.month
    var split: Split?

    /// Reads `month`, `day,product` or `product`.
    static func argument(_ text: String) throws -> FigureParts {
        var parts = FigureParts()
        var words = text.split(separator: ",", omittingEmptySubsequences: false)[...]
        if let step = words.first.flatMap({ Step(rawValue: String($0)) }) {
            parts.step = step
            words = words.dropFirst()
        } else if words.isEmpty {
            throw ValidationError("it is empty")
        }
        guard let word = words.popFirst() else { return parts }
        guard words.isEmpty, let split = Split(rawValue: String(word)) else {
            throw ValidationError("it is \(Step.choice), and after a comma \(Split.choice)")
        }
        parts.split = split
        return parts
    }
}
