import TestSupport
import Testing

@Suite("storehook-bench chaos")
struct ChaosCommandTests {
    @Test("fails where a cell that was asked for cannot be played, and says which")
    func notPlayed() async throws {
        try await withSite { site in
            // It needs a volume, which is not named here.
            let program = try site.start(["chaos", "--cells", "disk-full"], of: Executable.bench)
            let ending = await program.end()
            let (output, errors) = (program.output, program.errors)
            await program.discard()
            #expect(ending == .exited(1))
            #expect(output.contains("| disk-full | not run: needs "), "\(output)")
            #expect(errors.contains("not everything was played"), "\(errors)")
        }
    }
}
