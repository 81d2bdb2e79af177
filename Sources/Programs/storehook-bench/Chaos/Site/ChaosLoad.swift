import Foundation

/// The load: the simulator in its own process, which repeats posts that are not answered 200, as Apple does.
final class ChaosLoad: Sendable {
    /// Share of the posts that repeat an earlier one.
    static let duplicatePercent = 10

    let posted: Int
    private let process: Process
    private let output = Pipe()

    init(_ executable: URL, _ arguments: [String], notifications: Int) throws {
        posted = notifications
        process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    /// How many different notifications there are among the posts.
    var unique: Int { posted - posted * Self.duplicatePercent / 100 }

    /// Waits for the end, at most ten minutes.
    /// - Returns: how many posts were answered 200, and how often one had to be repeated until it was.
    func outcome() async throws -> (acknowledged: Int, repeated: Int) {
        try await patiently("all posts are answered", within: .seconds(600)) { !self.process.isRunning }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        // "accepted 1234, after 5 retries"
        guard let accepted = Self.number(after: "accepted ", in: text) else {
            throw NeverCameAbout(what: "the simulator's account of its posts")
        }
        return (accepted, Self.number(after: "after ", in: text) ?? 0)
    }

    private static func number(after word: String, in text: String) -> Int? {
        text.firstRange(of: word).flatMap { Int(text[$0.upperBound...].prefix(while: \.isNumber)) }
    }

    /// Ends it early.
    func stop() { if process.isRunning { process.terminate() } }
}
