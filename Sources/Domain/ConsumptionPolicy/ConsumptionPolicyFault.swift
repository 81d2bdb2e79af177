/// What is wrong with the text of a policy, where, and what to write instead.
public struct ConsumptionPolicyFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line, from 1 on; nil where it is about the whole text.
    public let line: Int?
    /// What is wrong and what to do, in one line.
    public let message: String

    /// A fault of these parts.
    public init(line: Int?, message: String) {
        self.line = line
        self.message = message
    }

    /// For people, with the line.
    public var description: String { line.map { "line \($0): \(message)" } ?? message }
}
