import Foundation
import TestSupport
import Testing

/// A reader of the chapter types what stands there.
@Suite("The chapter about the account API")
struct AccountAPIChapterTests {
    static let document = Document.chapter("AccountAPI")

    @Test("is typed as it stands, and each line does what is said")
    func typed() async throws {
        let document = try Document(Self.document)
        let commands = document.blocks.filter(\.isTyped).flatMap(\.commands)
        #expect(commands.count >= 10, "the chapter's form has changed, or this test reads it wrongly")
        #expect(commands.count { $0.hasPrefix("curl ") } >= 2)
        #expect(document.blocks.contains { $0.language == "json" && $0.isBelowTheOneBefore })
        try await withSite { site in
            try await withTokenKey { settings in
                try await withTemporaryDirectory { directory in
                    try await site.with(["serve", "--port", "0"], settings) { api in
                        let port = try #require(api.port)
                        let served = ServedAPI(port: port)
                        var terminal = try DocumentTerminal(
                            site, settings, directory, ports: [(shown: 8081, own: port)])
                        try await terminal.type(document) { terminal, line, said in
                            // It is shown once, and its reader keeps it. It counts at once; that it was revoked counts after a while.
                            if let key = said.firstMatch(of: /shk_[A-Za-z0-9_-]+/) {
                                terminal.environment["KEY"] = String(key.output)
                                #expect(try await Self.status(served, String(key.output)) == 200)
                            }
                            if line.contains("--revoke"), let key = terminal.environment["KEY"] {
                                try await eventually("the key does not count any more") {
                                    try await Self.status(served, key) == 401
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    private static func status(_ api: ServedAPI, _ key: String) async throws -> Int {
        try await api.send("/v1/account", [("X-Account-ID", "alice")], token: key).status
    }
}
