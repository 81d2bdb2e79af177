import ArgumentParser
import Base
import EvidenceStore
import Foundation
import Operations

struct DeadLettersShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show one dead letter, and what it says.",
        discussion: """
            What an unverified letter says is shown as it stands in it; it may be forged.

            Example: storehook dead-letters show 17
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The letter's number.") var id: Int64
    @OptionGroup var past: PastOptions
    @OptionGroup var output: Output
    @Flag(help: "Print the stored bytes and nothing else.") var raw = false

    func run() async throws {
        let found = try await Database.with(try await shared.settings()) { pool in
            try await Outbox(pool).deadLetter(id, at: past.at)
        }
        guard let (letter, stored) = found else {
            let then = past.at.map { " at \($0)" } ?? ""
            throw CommandFailure("there is no dead letter \(id)\(then); see storehook dead-letters list")
        }
        if raw {
            let bytes: [UInt8]
            do { bytes = try stored?.get() ?? [] } catch { throw CommandFailure("dead letter \(id): \(error)") }
            StandardOutput.write(bytes)
            return
        }
        output.print(CommandAnswer(letter, stored))
    }
}
