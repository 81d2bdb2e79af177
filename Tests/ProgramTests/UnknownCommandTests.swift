import TestSupport
import Testing

@Suite("A misspelt command")
struct UnknownCommandTests {
    @Test(
        "is answered with the command that was probably meant",
        arguments: [
            (
                "recieve --port 1",
                "there is no command storehook recieve: did you mean storehook receive? storehook --help lists"
            ),
            ("acount show x", "did you mean storehook account? "),
            (
                "dead-letters replya 1",
                "did you mean storehook dead-letters replay? storehook dead-letters --help lists"
            ),
            ("account erse alice", "erse is no command of storehook account: did you mean storehook account erase? "),
            ("no-such-command", "there is no command storehook no-such-command: storehook --help lists the commands"),
            ("receive --prot 1", "Did you mean '--port'?"), ("account alice --nonsense", "Unknown option '--nonsense'"),
        ])
    func misspelt(_ words: String, _ said: String) async throws {
        let program = try ChildProgram(
            Executable.path, words.split(separator: " ").map(String.init), environment: [:])
        #expect(await program.end() == .exited(2))
        #expect(program.errors.contains(said) && program.errors.split(separator: "\n").count == 1, "\(program.errors)")
        await program.discard()
    }
}
