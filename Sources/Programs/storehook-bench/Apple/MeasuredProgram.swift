import Foundation

/// A program that was run to its end, and what it took.
struct MeasuredProgram: Sendable {
    let status: Int32
    let output: String
    let seconds: Double
    /// The most bytes of RAM that it held, shared ones included; looked at each tenth of a second.
    let peak: Int64

    /// Runs the program with these arguments and settings.
    static func run(
        _ arguments: [String], _ programs: ChaosPrograms, _ database: String, _ settings: [String: String]
    ) async throws -> MeasuredProgram {
        let process = Process()
        process.executableURL = ChaosPrograms.beside("storehook")
        process.arguments = arguments
        process.environment = programs.environment(database).merging(settings) { _, own in own }
        process.standardInput = FileHandle.nullDevice
        process.standardError = programs.log
        let output = Pipe()
        process.standardOutput = output
        let start = ContinuousClock.now
        try process.run()
        let id = process.processIdentifier
        let watching = Task {
            var peak: Int64 = 0
            while !Task.isCancelled {
                peak = max(peak, ProcessMemory.peak(id) ?? 0)
                try? await Task.sleep(for: .milliseconds(100))
            }
            return peak
        }
        let text = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let data = output.fileHandleForReading.readDataToEndOfFile()
                process.waitUntilExit()
                continuation.resume(returning: String(decoding: data, as: UTF8.self))
            }
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        watching.cancel()
        return MeasuredProgram(
            status: process.terminationStatus, output: text, seconds: seconds, peak: await watching.value)
    }
}
