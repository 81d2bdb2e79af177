import Foundation

/// A program of the system's, run to its end.
struct SystemTool: Sendable {
    let executable: URL

    /// The first of this name where Linux keeps the programs of the system.
    static func named(_ name: String) -> SystemTool? {
        for directory in ["/usr/sbin", "/sbin", "/usr/bin", "/bin"] {
            let path = "\(directory)/\(name)"
            if FileManager.default.isExecutableFile(atPath: path) {
                return SystemTool(executable: URL(fileURLWithPath: path))
            }
        }
        return nil
    }

    /// Runs it.
    /// - Throws: ``Failure`` unless it ends with status 0.
    func run(_ arguments: [String], log: FileHandle) async throws {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = log
        process.standardError = log
        try process.run()
        // To its end, also when the run is being interrupted: a half-made thing is harder to take away.
        await Task { while process.isRunning { try? await Task.sleep(for: .milliseconds(20)) } }.value
        guard process.terminationStatus == 0 else {
            throw Failure(command: "\(executable.lastPathComponent) \(arguments.first ?? "")")
        }
    }

    /// It ended with another status than 0; why is in the log.
    struct Failure: Error, CustomStringConvertible {
        let command: String
        var description: String { "\(command) failed; its words are in the log of the run" }
    }
}
