import Base
import TestSupport
import Testing

@testable import storehook

@Suite("The account API of a demonstration")
struct DemoAPITests {
    private static func find(_ servers: [ScriptedServer], isGuess: Bool) async throws -> String {
        try await DemoAPI.find(
            among: servers.map { "http://127.0.0.1:\($0.port)" }, isGuess: isGuess, "those ports", token: "secret",
            in: .production
        ).url
    }

    @Test(
        "is the first that takes the token; another program that refuses it is passed by, and one on a guessed port never sees it"
    )
    func found() async throws {
        let stranger = try ScriptedServer { _ in .json(403, "{}") }
        let storehook = try ScriptedServer {
            $0.line == "GET /openapi.json"
                ? .json(200, #"{"info":{"title":"storehook account API"}}"#) : .json(200, "{}")
        }
        let closed = try ScriptedServer {
            $0.line == "GET /openapi.json"
                ? .json(200, #"{"info":{"title":"storehook account API"}}"#)
                : .json(403, #"{"code":"environment_forbidden"}"#)
        }
        defer { for server in [stranger, storehook, closed] { server.stop() } }
        #expect(try await Self.find([stranger, storehook], isGuess: true) == "http://127.0.0.1:\(storehook.port)")
        #expect(!stranger.requests.isEmpty && !stranger.requests.contains { $0.text.contains("secret") })
        #expect(try await Self.find([stranger, storehook], isGuess: false) == "http://127.0.0.1:\(storehook.port)")
        for (servers, words) in [
            ([closed, storehook], "STOREHOOK_SANDBOX_ACCESS=all"), ([stranger], "is answered 403"),
        ] {
            let failure = await #expect(throws: CommandFailure.self) { try await Self.find(servers, isGuess: false) }
            #expect("\(failure.map { "\($0)" } ?? "")".contains(words), "\(words)")
        }
        let none = await #expect(throws: CommandFailure.self) { try await Self.find([stranger], isGuess: true) }
        #expect("\(none.map { "\($0)" } ?? "")".contains("no account API answers at those ports"))
    }
}
