import Foundation

/// The tokens of the app's login: one that was given, or the output of a command for each call.
struct ExampleTokens: Sendable {
    let token: String?
    let command: String?

    /// - Throws: ``UsageError`` where the command fails or says nothing.
    func next() async throws -> String {
        guard let command else { return token ?? "" }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        process.waitUntilExit()
        guard process.terminationStatus == 0, !text.isEmpty else {
            throw UsageError(description: "the command of --token-command gives no token; run it by hand")
        }
        return text
    }
}
