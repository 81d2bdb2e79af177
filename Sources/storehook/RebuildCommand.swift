import AppStoreVerification
import ArgumentParser
import Ledger
import Worker

struct RebuildCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild",
        abstract: "Derive all facts and state again from Apple's stored bytes.",
        discussion: """
            Workers go on meanwhile. --check changes nothing, names each cell that differs, and exits with 1 if there is
            one. Needs the workers' settings: everything is verified again. Where retention has dropped the bytes, the
            signed records that were kept of them count instead.

            Example: storehook rebuild --check
            """)

    @OptionGroup var shared: SharedOptions
    @Flag(help: "Compare with what stands, and change nothing.") var check = false

    func run() async throws {
        let settings = try await shared.settings()
        let verifier = Verifier(configuration: try settings.verifier(), clock: WallClock.now)
        let report = try await Database.with(settings) { pool in
            let rebuild = Rebuild(pool: pool, verifier: verifier, ledger: Ledger())
            let progress = ProgressBar(check ? "checking" : "rebuilding", of: Int(try await rebuild.count()))
            let report = try await rebuild.run(mending: !check) { lines in
                progress.advance(by: lines)
            } onDifference: { difference in
                print(difference)
            }
            progress.finish()
            return report
        }
        let found = "\(report.lines) lines derived anew from Apple's bytes, \(report.differences) differences"
        print(check || report.differences == 0 ? found : found + " mended")
        if report.withoutBytes > 0 {
            print(
                "\(report.withoutBytes) notifications' bytes were dropped by retention: "
                    + "their records were taken as they stand")
        }
        if check, report.differences > 0 { throw ExitStatus.failed }
    }
}
