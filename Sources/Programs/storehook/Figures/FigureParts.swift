import ArgumentParser
import FigureStore
import Operations

/// A word of the command line that says by what a figure is apart.
protocol FigureWord: CaseIterable, RawRepresentable, Sendable where RawValue == String {}

/// How long the periods of a figure are.
protocol FigureStep: FigureWord {
    /// By default.
    static var month: Self { get }
}

extension FigureQuestion.Step: FigureStep {}
extension FigureQuestion.Split: FigureWord {}
extension CalendarStep: FigureStep {}
extension UserFigure.Split: FigureWord {}

extension FigureWord {
    /// As a sentence has the words: `month, fiscal-month or day`.
    fileprivate static var choice: String {
        let words = allCases.map(\.rawValue)
        return (words.count > 1 ? words.dropLast().joined(separator: ", ") + " or " : "") + (words.last ?? "")
    }
}

/// By what a figure is apart.
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
