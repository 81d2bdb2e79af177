import Base
import Foundation
import TestSupport
import Testing
import WebhookSupport

@Suite("Which release it is")
struct ReleaseTests {
    @Test("is told by --version, and by the first line of each program's log and by no other")
    func told() async throws {
        try await withSite { site in
            let version = try await site.run("--version", without: ["DATABASE_URL"])
            #expect(version.ending == .exited(0))
            #expect(version.output == "storehook \(Release.version) (commit \(Release.commit))\n")
            try await withTokenKey { keys in
                for program in [["receive", "--port", "0"], ["work"], ["serve", "--port", "0"]] {
                    try await site.with(program, keys) { running in
                        let lines = try running.errors.split(separator: "\n").map {
                            try #require(
                                try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: String])
                        }
                        #expect(lines[0]["message"] == "Starting" && lines[0]["version"] == Release.version)
                        #expect(lines[0]["commit"] == Release.commit)
                        #expect(lines.count { $0["message"] == "Starting" } == 1)
                    }
                }
                // A program that cannot start says why, and nothing else.
                let broken = try await site.run("serve", "--port", "0", with: ["STOREHOOK_RESTORE": "perhaps"])
                #expect(broken.ending == .exited(2) && broken.errorLines == 1, "\(broken.errors)")
            }
        }
    }

    @Test("is told to whoever is posted to")
    func posted() async throws {
        try await withSite { site in
            try await withTemporaryDirectory { directory in
                let receiver = try await WebhookReceiver.start()
                let settings = try makeEndpointSettings(in: directory)
                let url = "http://127.0.0.1:\(receiver.port)/"
                let added = try await site.run("endpoints", "add", url, with: settings)
                #expect(added.ending == .exited(0), "\(added.errors)")
                let tried = try await site.run("endpoints", "test", "1", with: settings)
                #expect(tried.ending == .exited(0), "\(tried.errors)")
                #expect(receiver.posts.first?.headers["user-agent"] == "storehook/\(Release.version)")
                try await receiver.stop()
            }
        }
    }
}
