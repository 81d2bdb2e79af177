import AppStorePayloads
import AppStoreVerification
import Base
import EvidenceStore
import Foundation
import Simulation
import TestSupport
import Testing

@Suite("Whom a database serves")
struct AppsTests {
    private func serving(_ site: Site, _ apps: String, roots: String? = nil) -> [String: String] {
        var settings = ["STOREHOOK_APPS": apps]
        settings["STOREHOOK_TRUSTED_ROOTS"] = roots
        return settings
    }

    @Test("is what its workers were set to serve, and settings for somebody else are told so before they do harm")
    func others() async throws {
        try await withSite { site in
            let own = "\(Site.app.bundleId)=\(Site.app.appAppleId)"
            // No worker has served here yet, so any may.
            #expect(
                try await site.run("apps", "--check", with: serving(site, "com.example.other=1")).ending == .exited(0))
            for _ in 0..<2 { try await site.with(["work"]) { _ in } }
            #expect(try await site.outbox.served().apps.count == 2)
            #expect(try await site.run("apps", "--check").ending == .exited(0))
            let more = try await site.run("apps", "--check", with: serving(site, "com.example.other=1,\(own)"))
            #expect(more.ending == .exited(0), "\(more.errors)")
            let other = try await site.run("apps", "--check", with: serving(site, "com.example.other=1"))
            #expect(other.ending == .exited(1) && other.errorLines == 1)
            #expect(other.errors.contains("serves \(Site.app.bundleId)"), "\(other.errors)")
            let apple = try await site.run(
                "apps", "--check", "--format", "json", with: serving(site, own, roots: "\(Fingerprint.appleRootG3)"))
            #expect(
                apple.ending == .exited(1) && apple.errors.contains("trusts root \(site.authority.rootFingerprint)"))
            let rows = try #require(try apple.json() as? [[String: Any]])
            #expect(rows.count == 4 && rows.count { $0["served_here"] as? Bool == true } == 2, "\(apple.output)")
        }
    }

    @Test("may have been a demonstration's before, which does not count for who knows its certificates")
    func demonstration() async throws {
        try await withSite { site in
            let pki = FileManager.default.temporaryDirectory.appending(path: "storehook-pki-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: pki) }
            try site.authority.save(to: pki.path)
            try await site.with(["work"]) { _ in }
            let settings = serving(site, "com.example.other=1", roots: "\(Fingerprint.appleRootG3)")
            let known = try await site.run("apps", "--check", "--pki", pki.path, with: settings)
            #expect(known.ending == .exited(0), "\(known.errors)")
            #expect(try await site.run("apps", "--check", with: settings).ending == .exited(1))
        }
    }

    @Test("is never Xcode beside Production, one worker after the other included")
    func homemade() async throws {
        try await withSite { site in
            try await site.with(["work"]) { _ in }
            let root = site.authority.rootFingerprint
            let worker = try site.start(
                ["work"], ["STOREHOOK_ENVIRONMENTS": "Xcode", "STOREHOOK_TRUSTED_ROOTS": "Xcode:\(root)"])
            #expect(await worker.end() == .exited(2))
            #expect(worker.errors.contains("Production") && worker.errors.contains("Xcode"), "\(worker.errors)")
            await worker.discard()
            #expect(try await site.outbox.served().apps.allSatisfy { $0.environment != .xcode })
        }
    }
}
