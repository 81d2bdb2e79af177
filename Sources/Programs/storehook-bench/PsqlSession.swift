import Foundation

/// psql, fed with a script: what the database does without storehook.
struct PsqlSession {
    /// What a script cost.
    struct Cost {
        var seconds = 0.0
        /// psql's own CPU seconds.
        var cpuSeconds = 0.0
    }

    let url: String

    /// Runs a script, piece by piece, and drops what it prints.
    func run(_ pieces: some Sequence<Data>) throws -> Cost {
        let psql = Process()
        psql.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        psql.arguments = [
            "psql", "--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--set", "ON_ERROR_STOP=1", "--file", "-",
            url,
        ]
        let script = Pipe()
        psql.standardInput = script
        psql.standardOutput = FileHandle.nullDevice
        // A psql that gives up early must not take this program along.
        signal(SIGPIPE, SIG_IGN)
        let cpuBefore = ProcessTimes.endedChildrenCPUSeconds
        let start = ContinuousClock.now
        try psql.run()
        do {
            for piece in pieces { try script.fileHandleForWriting.write(contentsOf: piece) }
            try script.fileHandleForWriting.close()
        } catch {
            psql.waitUntilExit()
            throw NeverCameAbout(what: "the end of psql's script; what it said stands above")
        }
        psql.waitUntilExit()
        guard psql.terminationStatus == 0 else {
            throw NeverCameAbout(what: "psql's success; what it said stands above, or install postgresql-client")
        }
        return Cost(
            seconds: (ContinuousClock.now - start) / .seconds(1),
            cpuSeconds: ProcessTimes.endedChildrenCPUSeconds - cpuBefore)
    }
}
