import AppStoreVerification
import ArgumentParser
import Operations
import PurchaseStore

struct RebuildCommand: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild",
        abstract: "Derive all facts and state again from Apple's stored bytes.",
        discussion: """
            Workers go on meanwhile. --check changes nothing, names each cell that differs, and exits with 1 if there is
            one. Needs the workers' settings: everything is verified again. Where retention has dropped the bytes, the
            signed records that were kept of them count instead. Where some bytes of a purchase do not verify under these
            settings, it is named and left as it is, since the settings may be what is wrong; where the bytes should never
            have been trusted, --forget-unverified derives such a purchase from the rest.

            Example: storehook rebuild --check
            """)

    @OptionGroup var shared: SharedOptions
    @Flag(help: "Compare with what stands, and change nothing.") var check = false

    @Flag(help: "Repair purchases too whose bytes do not all verify: what those brought is forgotten.")
    var forgetUnverified = false

    func validate() throws {
        guard !(check && forgetUnverified) else {
            throw ValidationError("--check changes nothing, and so forgets nothing")
        }
    }

    func run() async throws {
        let settings = try await shared.settings()
        let verifier = Verifier(configuration: try settings.verifier(), clock: WallClock.now)
        let report = try await Database.with(settings, size: Rebuild.pagesAtOnce + 1, for: .owner) { pool in
            let rebuild = Rebuild(pool: pool, verifier: verifier, ledger: Ledger(policy: try settings.statusPolicy()))
            let progress = ProgressBar(check ? "checking" : "rebuilding", of: Int(try await rebuild.count()))
            let report = try await rebuild.run(repair: !check, discard: forgetUnverified) { purchases in
                progress.advance(by: purchases)
            } onDifference: { difference in
                StandardOutput.line("\(difference)")
                // A repair is done to its end. A comparison whose lines are lost ends here.
                if check { try StandardOutput.check() }
            }
            progress.finish()
            return report
        }
        let found = "\(report.purchases) purchases derived anew from Apple's bytes, \(report.differences) differences"
        StandardOutput.line(check || report.differences == 0 || report.unverified > 0 ? found : found + " repaired")
        if report.withoutBytes > 0 {
            StandardOutput.line(
                "\(report.withoutBytes) notifications' bytes were dropped by retention: "
                    + "their records were taken as they stand")
        }
        if report.unverified > 0, !forgetUnverified {
            StandardError.line(
                "storehook: bytes of \(report.unverified) purchases do not verify under these settings, and those were "
                    + "left as they are: look at STOREHOOK_APPS, STOREHOOK_ENVIRONMENTS and STOREHOOK_TRUSTED_ROOTS")
            throw ExitStatus.failed
        }
        if report.failed > 0 {
            StandardError.line(
                "storehook: \(report.failed) purchases could not be derived, and were left as they are: see above for why"
            )
            throw ExitStatus.failed
        }
        if check, report.differences > 0 { throw ExitStatus.failed }
    }
}
