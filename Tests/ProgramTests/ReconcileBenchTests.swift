import TestSupport
import Testing

@Suite("storehook-bench reconcile")
struct ReconcileBenchTests {
    @Test(
        "finds that what was lost on the way comes back, once, and that a run without loss is no different",
        .enabled(if: takesAllSamples))
    func lost() async throws {
        try await withSite { site in
            let program = try site.start(
                ["reconcile", "--notifications", "100", "--loss", "20", "--runs", "lost", "--json"],
                of: Executable.bench)
            let ending = await program.end()
            let (output, errors) = (program.output, program.errors)
            await program.discard()
            #expect(ending == .exited(0), "\(errors)")
            #expect(output.contains(#""lost_differing_tables":0.0"#), "\(output)")
            #expect(output.contains(#""lost_second_stored":0.0"#) && !output.contains(#""lost_recovered":0.0"#))
        }
    }
}
