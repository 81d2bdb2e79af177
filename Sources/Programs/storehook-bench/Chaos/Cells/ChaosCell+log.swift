import Foundation
import Glibc

extension ChaosCell {
    /// The collector of the programs' logs stands still: it holds their standard error open, and reads nothing. Meanwhile each program
    /// gets SIGTERM, as in a deployment, and is started again.
    static let logCollectorStuck = ChaosCell(name: "log-collector-stuck") { run in
        let collector = try StuckCollector()
        var programs = run.programs
        programs.log = collector.pipe.fileHandleForWriting
        return try await BenchDatabase.with { database in
            try await ChaosSite.with(database, programs) { site in
                try await run.account(site, seconds: 14) { site in
                    for program in [site.receiver] + site.workers {
                        let starts = program.starts
                        program.signal(SIGTERM)
                        try await patiently("a program ends whose log is not read", within: .seconds(10)) {
                            program.starts > starts
                        }
                    }
                }
            }
        }
    }
}

/// A full pipe whose reading end stays open and is never read.
private final class StuckCollector {
    let pipe = Pipe()

    init() throws {
        let end = pipe.fileHandleForWriting.fileDescriptor
        let flags = fcntl(end, F_GETFL)
        guard fcntl(end, F_SETFL, flags | O_NONBLOCK) == 0 else { throw NeverCameAbout(what: "a full pipe") }
        let bytes = [UInt8](repeating: UInt8(ascii: "."), count: 4096)
        while write(end, bytes, bytes.count) > 0 {}
        guard fcntl(end, F_SETFL, flags) == 0 else { throw NeverCameAbout(what: "a full pipe") }
    }
}
