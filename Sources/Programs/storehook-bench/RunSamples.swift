import EvidenceStore
import Foundation

/// What was seen each second of a run: how much waited, and what each program held.
struct RunSamples: Sendable {
    private var depths: [Double] = []
    private var memory: [String: [Double]] = [:]

    /// Looks once a second until it is cancelled.
    /// - Parameter programs: names and process ids.
    static func collect(_ programs: [(name: String, id: Int32)], _ database: BenchDatabase) async throws -> RunSamples {
        var samples = RunSamples()
        var next = ContinuousClock.now
        while !Task.isCancelled {
            do {
                try await samples.add(programs, database)
            } catch {
                // What it was asking is cancelled with it.
                if Task.isCancelled { break }
                throw error
            }
            next += .seconds(1)
            try? await Task.sleep(until: next)
        }
        return samples
    }

    private mutating func add(_ programs: [(name: String, id: Int32)], _ database: BenchDatabase) async throws {
        depths.append(Double(try await Outbox(database.pool).queue.pending()))
        for program in programs {
            if let bytes = ProcessMemory.resident(program.id) {
                memory[program.name, default: []].append(Double(bytes) / 1_048_576)
            }
        }
        // Shared buffers count once and not here: a backend touches more of them the longer it lives.
        let server = try await database.serverProcesses().compactMap(ProcessMemory.anonymous)
        if !server.isEmpty {
            memory["postgresql", default: []].append(Double(server.reduce(0, +)) / 1_048_576)
        }
    }

    /// Adds the first minute's means and the last one's to figures; of shorter runs, the first and the last third.
    func add(to figures: inout Figures) {
        let window = max(1, min(60, depths.count / 3))
        func means(_ values: [Double]) -> (first: Double, last: Double) {
            let (first, last) = (values.prefix(window), values.suffix(window))
            return (first.reduce(0, +) / Double(max(first.count, 1)), last.reduce(0, +) / Double(max(last.count, 1)))
        }
        let depth = means(depths)
        figures.add("depth_first", depth.first, "not yet applied, mean of the first \(window) s")
        figures.add("depth_last", depth.last, "not yet applied, mean of the last \(window) s")
        figures.add("depth_max", depths.max() ?? 0, "not yet applied, at most")
        for (name, values) in memory.sorted(by: { $0.key < $1.key }) {
            let mean = means(values)
            let member = name.replacing("-", with: "_")
            figures.add("\(member)_mib_first", mean.first, "memory of \(name), mean of the first \(window) s, MiB")
            figures.add("\(member)_mib_last", mean.last, "memory of \(name), mean of the last \(window) s, MiB")
        }
    }
}
