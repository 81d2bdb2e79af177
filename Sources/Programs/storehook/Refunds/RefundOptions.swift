import ArgumentParser
import Operations
import OrderStore
import Staff
import Subscriptions

/// What every act about a request takes.
struct RefundOptions: ParsableArguments {
    @OptionGroup var shared: SharedOptions
    @Argument(help: "The request's number, such as RF-001.", transform: RefundOptions.number) var number: RefundNumber
    @OptionGroup var acting: ActingOptions
    @OptionGroup var output: Output

    static func number(_ text: String) throws -> RefundNumber {
        guard let number = RefundNumber(text) else {
            throw ValidationError("a request has a number like RF-001: storehook refunds list has them")
        }
        return number
    }

    /// Acts on the request, and prints its new state.
    func act(
        _ body: @Sendable (RefundRequests, RefundNumber, StaffActor) async throws -> RefundRequests.Decided
    ) async throws {
        let settings = try await shared.settings()
        let (number, actor) = (number, acting.admin)
        let decided = try await Self.explaining(number) {
            try await Database.with(settings) {
                try await body(RefundRequests($0, rules: try settings.staffRules()), number, actor)
            }
        }
        output.print(CommandAnswer(decided))
    }

    /// Refusals as one line.
    static func explaining<Value>(
        _ number: RefundNumber? = nil, _ body: () async throws -> Value
    ) async throws -> Value {
        let place = number.map { "\($0): " } ?? ""
        do {
            return try await body()
        } catch let refusal as RefundRefusal {
            throw CommandFailure("\(place)\(refusal)")
        } catch let refusal as StaffRefusal {
            throw CommandFailure("\(place)\(refusal)")
        }
    }
}

/// A text about a decision.
struct NoteOption: ParsableArguments {
    @Option(help: "A note for colleagues, 1 to 1000 characters.") var note: String

    func validate() throws { try Self.check(note, "--note") }

    static func check(_ text: String?, _ option: String) throws {
        guard let text else { return }
        guard (1...1000).contains(text.unicodeScalars.count), text.contains(where: { !$0.isWhitespace }) else {
            throw ValidationError("\(option) takes 1 to 1000 characters")
        }
    }
}
