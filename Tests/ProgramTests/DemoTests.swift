import Foundation
import Simulator
import TestSupport
import Testing

@Suite("A demonstration")
struct DemoTests {
    private func with(_ site: Site, _ body: (_ arguments: [String]) async throws -> Void) async throws {
        let pki = FileManager.default.temporaryDirectory.appending(path: "storehook-pki-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: pki) }
        try site.authority.save(to: pki.path)
        try await site.with(["receive", "--port", "0"]) { receiver in
            let url = "http://127.0.0.1:\(try #require(receiver.port))/webhooks/apple"
            try await body(["demo", "--to", url, "--pki", pki.path, "--notifications", "200"])
        }
    }

    @Test("posts, waits for the workers, and accounts for every notification; the second one as well")
    func whole() async throws {
        try await withSite { site in
            try await with(site) { arguments in
                try await site.with(["work"]) { _ in
                    for _ in 0..<2 {
                        let demo = try site.start(arguments)
                        #expect(await demo.end() == .exited(0), "\(demo.output) \(demo.errors)")
                        for said in [
                            "accepted 200", "received 200 = applied ", " + duplicate 40 + parked ", " + dead 0",
                            "pending 0, missing 0, doubled 0", "subscriptions, by view",
                            "every notification is accounted for",
                        ] {
                            #expect(demo.output.contains(said), "\(said): \(demo.output)")
                        }
                        await demo.discard()
                    }
                }
            }
        }
    }

    @Test("without a worker says that nothing was done, and leaves with 1")
    func unfinished() async throws {
        try await withSite { site in
            try await with(site) { arguments in
                let demo = try site.start(arguments + ["--patience", "0.3"])
                #expect(await demo.end() == .exited(1), "\(demo.errors)")
                #expect(demo.output.contains("200 are not done"), "\(demo.output)")
                #expect(demo.output.contains("not every notification is accounted for"))
                await demo.discard()
            }
        }
    }
}
