import AppStorePayloads
import AppStoreVerification
import AsyncHTTPClient
import Base
import EvidenceStore
import Foundation
import NIOCore
import NIOHTTP1
import Pipeline
import Postgres
import Simulation
import Synchronization
import TestSupport
import Testing

/// Against a real responder, `openssl ocsp`.
@Suite("Revocation", .serialized)
struct RevocationTests {
    /// A notification of the simulated app that this authority signs.
    private func notification(_ authority: SimulatedAuthority, lane: Int = 1) -> String {
        var subscriber = SimulatedSubscriber(lane: lane, seed: UInt64(lane))
        subscriber.buy(.premiumMonthly, at: Site.now)
        return subscriber.takeNotifications()[0].signed(by: authority)
    }

    private func with<T>(
        _ manner: OCSPResponder.Manner, answers: Int = 100, behind first: String? = nil,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (OCSPResponder) async throws -> T
    ) async throws -> T {
        let responder = try await OCSPResponder.start(manner, answers: answers, behind: first)
        do {
            let value = try await body(responder)
            await responder.stop()
            return value
        } catch {
            await responder.stop()
            throw error
        }
    }

    /// The settings of a program that trusts the shared authority and this one.
    private func settings(_ site: Site, _ authority: SimulatedAuthority) -> [String: String] {
        [
            "STOREHOOK_REVOCATION": "ocsp",
            "STOREHOOK_TRUSTED_ROOTS": "\(site.authority.rootFingerprint),\(authority.rootFingerprint)",
        ]
    }

    @Test(
        "is found out by storehook verify, and only where it is asked for",
        arguments: [
            (.good, nil), (.revoked, "revoked"), (.forging, "revocation_unknown"), (.away, "revocation_unknown"),
        ] as [(OCSPResponder.Manner, String?)])
    func verify(manner: OCSPResponder.Manner, code: String?) async throws {
        try await withSite { site in
            try await with(manner) { responder in
                let jws = notification(responder.authority)
                let settings = settings(site, responder.authority)
                let outcome = try await site.run("verify", with: settings, input: jws)
                let answer = try #require(try outcome.json() as? [String: Any])
                #expect(outcome.ending == .exited(code == nil ? 0 : 1), "\(outcome)")
                #expect(answer["code"] as? String == code)
                let unasked = try await site.run(
                    "verify", with: settings.merging(["STOREHOOK_REVOCATION": "off"]) { $1 }, input: jws)
                #expect(unasked.ending == .exited(0), "\(unasked)")
            }
        }
    }

    @Test("is asked of the next responder where the first one gives no answer, or none that counts")
    func furtherResponders() async throws {
        try await withSite { site in
            let nowhere = "http://127.0.0.1:\(try freePort())/ocsp"
            let (talker, port) = try TCPSocket.listening(port: 0)
            defer { talker.close() }
            // Takes connections and says nothing, until its time is up.
            let mute = "http://127.0.0.1:\(port)/ocsp"
            for (first, manner, code) in [
                (nowhere, .good, nil), (nowhere, .revoked, "revoked"), (mute, .good, nil),
                (nowhere, .away, "revocation_unknown"),
            ] as [(String, OCSPResponder.Manner, String?)] {
                try await with(manner, behind: first) { responder in
                    let outcome = try await site.run(
                        "verify", with: settings(site, responder.authority), input: notification(responder.authority))
                    let answer = try #require(try outcome.json() as? [String: Any])
                    #expect(outcome.ending == .exited(code == nil ? 0 : 1), "\(outcome)")
                    #expect(answer["code"] as? String == code)
                }
            }
        }
    }

    @Test("is a line of the doctor's: whether the responders of what came last answer, and what to do if not")
    func doctor() async throws {
        func line(_ site: Site, _ settings: [String: String]) async throws -> [String: String] {
            let outcome = try await site.run(
                "doctor", "--format", "json", "--port", "\(try freePort())", with: settings)
            let lines = try #require(try outcome.json() as? [[String: String]])
            return try #require(lines.first { $0["check"] == "revocation" })
        }
        try await withSite { site in
            #expect(try await line(site, [:])["status"] == "skipped")
            for (manner, status, said) in [
                (.good, "ok", "none is revoked"), (.revoked, "failed", "was revoked"), (.away, "failed", "TCP port 80"),
            ] as [(OCSPResponder.Manner, String, String)] {
                try await with(manner) { responder in
                    let text = notification(responder.authority)
                    try await site.pool.query("delete from storehook.signature_headers")
                    try await site.outbox.keepHeaders(of: [Array(text.utf8)])
                    let found = try await line(site, settings(site, responder.authority))
                    #expect(found["status"] == status && found["message"]?.contains(said) == true, "\(found)")
                }
            }
        }
    }

    @Test("of a certificate is asked once for all that it signed, and buries what it signed")
    func worker() async throws {
        try await withSite { site in
            for (manner, reason) in [(.good, nil), (.revoked, "revoked")] as [(OCSPResponder.Manner, String?)] {
                // It answers once: who asked again would never learn.
                try await with(manner, answers: 1) { responder in
                    let lanes = manner == .good ? 1...40 : 41...80
                    try await site.outbox.store(lanes.map { Array(notification(responder.authority, lane: $0).utf8) })
                    try await site.with(["work", "--batch", "10"], settings(site, responder.authority)) { _ in
                        try await site.untilDone()
                    }
                    try await eventually("the one answer was given") { responder.hasEnded }
                    #expect(try await site.outbox.conservation().applied == 40)
                    let letters = try await site.pool.query("select distinct reason from storehook.dead_letters")
                    #expect(try letters.map { try $0.decode(0, as: String.self) } == [reason].compactMap(\.self))
                }
            }
            // A dryRun asks, too: what it says would happen is what a replay would do.
            try await with(.revoked) { responder in
                try await site.outbox.store([Array(notification(responder.authority, lane: 81).utf8)])
                try await site.with(["work"]) { _ in try await site.untilDone() }
                let words = ["dead-letters", "replay", "--reason", "untrusted_root", "--dry-run", "--format", "json"]
                for (switched, reason) in [("ocsp", "revoked"), ("off", nil)] as [(String, String?)] {
                    let program = try site.start(
                        words, settings(site, responder.authority).merging(["STOREHOOK_REVOCATION": switched]) { $1 })
                    #expect(await program.end() == .exited(reason == nil ? 0 : 1), "\(program.errors)")
                    let report = try JSONSerialization.jsonObject(with: Data(program.output.utf8)) as? [String: Any]
                    let dead = report?["still_dead"] as? [[String: Any]]
                    #expect(dead?.first?["reason"] as? String == reason, "\(program.output)")
                    #expect(report?["applied"] as? Int == (reason == nil ? 1 : 0), "\(program.output)")
                    await program.discard()
                }
            }
        }
    }

    @Test(
        "that cannot be found out puts off what waits for it, and nothing else",
        arguments: [.away, .hanging] as [OCSPResponder.Manner])
    func unknown(manner: OCSPResponder.Manner) async throws {
        try await withSite { site in
            try await with(manner) { responder in
                // Of a chain that names no responder: the shared authority's names one, so one of its own.
                var (leaf, middle) = (CertificateShape.leaf, CertificateShape.intermediate)
                (leaf.responder, middle.responder) = (nil, nil)
                let silent = try SimulatedAuthority.generate(intermediate: middle, leaf: leaf)
                let waiting = (1...20).map { notification(responder.authority, lane: $0) }
                let others = (21...60).map { notification(silent, lane: $0) }
                try await site.outbox.store((waiting + others).map { Array($0.utf8) })
                var settings = settings(site, responder.authority)
                settings["STOREHOOK_TRUSTED_ROOTS", default: ""] += ",\(silent.rootFingerprint)"
                try await site.with(["work", "--batch", "10"], settings) { worker in
                    try await eventually("the others are done") { try await site.outbox.conservation().applied == 40 }
                    let counted = try await site.outbox.conservation()
                    #expect(counted.pending == 20 && counted.dead == 0)
                    let reasons = try await site.pool.query("select distinct last_reason from storehook.outbox_queue")
                    #expect(try reasons.map { try $0.decode(0, as: String.self) } == ["revocation_unknown"])
                    // One question in all, whatever the number of rows and attempts: within the hold-off the responder is not asked again.
                    let asked = worker.errors.components(separatedBy: "Could not learn").count - 1
                    #expect(asked == 1, "\(worker.errors)")
                }
            }
        }
    }

    @Test("is judged by an answer's own dates: a stale one counts for nothing, and a fresh one is asked for")
    func stale() async throws {
        try await with(.good) { responder in
            let start = WallTime.now()
            let clock = Mutex(start)
            let cache = RevocationCache()
            let verifier = Verifier(
                configuration: VerifierConfiguration(
                    apps: [Site.app.bundleId: Site.app.appAppleId],
                    trustedRoots: Set([Fingerprint(responder.authority.rootFingerprint)].compactMap(\.self))),
                revocation: cache
            ) { clock.withLock(\.self) }
            let kept = Mutex<[UInt8]>([])
            let checker = RevocationChecker(
                cache: cache, timeout: .seconds(60), clock: { clock.withLock(\.self) }, logger: quiet
            ) { question, address in
                // The first answer is recorded, and played again from then on.
                if let old = kept.withLock({ $0.isEmpty ? nil : $0 }) { return old }
                var request = HTTPClientRequest(url: address)
                request.method = .POST
                request.body = .bytes(ByteBuffer(bytes: question))
                let answer = try await client.execute(request, timeout: .seconds(60)).body.collect(upTo: 1 << 16)
                kept.withLock { $0 = Array(answer.readableBytesView) }
                return Array(answer.readableBytesView)
            }
            let jws = Array(notification(responder.authority).utf8)
            func code() -> VerificationCode? {
                do throws(VerificationFailure) {
                    _ = try verifier.verifyNotification(jws)
                    return nil
                } catch {
                    return error.code
                }
            }
            #expect(code() == .revocationUnknown)
            #expect(await checker.sendPendingRequests())
            #expect(code() == nil)
            // Good for the hour that the responder gave it, and no second question until then.
            clock.withLock { $0 = start.adding(seconds: 3500) }
            #expect(code() == nil)
            #expect(await !checker.sendPendingRequests())
            clock.withLock { $0 = start.adding(seconds: 3700) }
            #expect(code() == .revocationUnknown)
            #expect(await checker.sendPendingRequests())
            #expect(code() == .revocationUnknown)
            // Whatever byte of the genuine answer is changed, it is good for nothing.
            clock.withLock { $0 = start }
            let genuine = kept.withLock(\.self)
            let question = try #require(
                try CertificateChain(
                    validating: responder.authority.chain.map(\.der),
                    trustedRoots: verifier.configuration.trustedRoots.all
                ).revocationQuestions.first)
            #expect(try OCSPResponse(genuine, to: question, at: start).status == .good)
            for wrong in [start.adding(seconds: 3700), start.adding(seconds: -3600)] {
                #expect(throws: OCSPResponse.Refusal.self) { try OCSPResponse(genuine, to: question, at: wrong) }
            }
            for position in genuine.indices {
                var edited = genuine
                edited[position] ^= 0x01
                // A few bytes mean nothing: the signer's certificate may say NULL in more than one way.
                if let answer = try? OCSPResponse(edited, to: question, at: start) { #expect(answer.status == .good) }
                _ = try? OCSPResponse(Array(genuine[..<position]), to: question, at: start)
            }
        }
    }
}

/// The clock that responders go by.
private enum WallTime {
    static func now() -> Timestamp {
        Timestamp(millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1000))
    }
}
