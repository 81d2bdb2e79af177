import AccountAPI
import Accounts
import AppStorePayloads
import Base
import Foundation
import Glibc
import JWTKit
import Synchronization
import TestSupport
import Testing

@testable import APIKit

/// A source of keys that a test changes: a file, or a provider of a JWK set.
private final class Source: Sendable {
    let source: TokenKeySource
    private let file: String
    private let served = Mutex("")
    private let provider: ScriptedServer?

    init(isURL: Bool, in directory: URL) throws {
        file = directory.appending(path: "source").path
        guard isURL else {
            (source, provider) = (.file(file), nil)
            return
        }
        let path = file
        let provider = try ScriptedServer { _ in
            // Foundation's reader of texts would take a byte order mark away.
            .json(200, String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self))
        }
        self.provider = provider
        source = try TokenKeySource("http://127.0.0.1:\(provider.port)/jwks.json")
    }

    func say(_ text: String) throws { try text.write(toFile: file, atomically: true, encoding: .utf8) }
    func stop() { provider?.stop() }
}

@Suite("What is said of the keys of tokens")
struct TokenStandingTests {
    private let clock = ManualClock()
    private var now: Timestamp { Timestamp(millisecondsSince1970: clock.millisecondsSince1970) }

    private func with(
        isURL: Bool, _ body: (Source, TokenKeys, TokenCheck, TokenSigner) async throws -> Void
    ) async throws {
        try await withDirectory { directory in
            let signer = try await TokenSigner(in: directory)
            let source = try Source(isURL: isURL, in: directory)
            defer { source.stop() }
            try source.say(try signer.jwks())
            let keys = TokenKeys(
                source.source, logger: quiet,
                now: { [clock] in Timestamp(millisecondsSince1970: clock.millisecondsSince1970) })
            try await body(
                source, keys, TokenCheck(keys, RunningAPI.rules, AccountIDTable(.auto, logger: quiet), now: wallClock),
                signer)
        }
    }

    private static func garbage(_ jwks: String) -> [String] {
        [
            "", " \n", "nonsense", "<html><body>503</body></html>", "[]", "null", "{}", #"{"keys":3}"#, #"{"keys":{}}"#,
            #"{"keys":["a"]}"#, "\u{FEFF}" + jwks, String(jwks.prefix(jwks.count / 2)), "[\(jwks)]",
        ]
    }

    @Test(
        "garbage in their place leaves those of before, and since when is said until it is gone",
        arguments: [false, true])
    func garbage(isURL: Bool) async throws {
        try await with(isURL: isURL) { source, keys, check, signer in
            #expect(try await keys.read() == 3)
            #expect(keys.standing == .good(3) && keys.whyNone == nil && keys.warning == nil)
            let token = try await signer.token()
            for text in Self.garbage(try signer.jwks()) {
                clock.advance(by: .seconds(1000))
                let since = now
                for _ in 0..<2 {
                    try source.say(text)
                    await #expect(throws: TokenKeySet.Fault.self, "\(text)") { try await keys.read() }
                    guard case .stale(3, since, _) = keys.standing else {
                        Issue.record("\(text): \(keys.standing)")
                        return
                    }
                    #expect(keys.whyNone == nil && keys.warning?.contains("\(since)") == true)
                    #expect(try await check.caller(of: token).account == "alice")
                    clock.advance(by: .seconds(10))
                }
                try source.say(try signer.jwks())
                try await keys.read()
                #expect(keys.standing == .good(3) && keys.warning == nil)
            }
        }
    }

    @Test("a set without keys withdraws all: nobody is let in, until there are others", arguments: [false, true])
    func withdrawn(isURL: Bool) async throws {
        try await with(isURL: isURL) { source, keys, check, signer in
            try await keys.read()
            let token = try await signer.token()
            #expect(try await check.caller(of: token).account == "alice")
            for text in [#"{"keys":[]}"#, #" {"keys": [ ] }"#, try signer.jwks(only: [])] {
                clock.advance(by: .seconds(1000))
                let since = now
                try source.say(text)
                await #expect(throws: TokenKeySet.Fault.self) { try await keys.read() }
                clock.advance(by: .seconds(10))
                // Garbage on top of it brings none back.
                try source.say("nonsense")
                await #expect(throws: TokenKeySet.Fault.self) { try await keys.read() }
                #expect(keys.standing == .withdrawn(since: since))
                #expect(keys.whyNone?.contains("\(since)") == true && keys.warning == nil)
                for token in [token, try await signer.token(key: "rsa")] {
                    await #expect(throws: TokenRefusal.self) { try await check.caller(of: token) }
                }
                try source.say(try signer.jwks())
                try await keys.read()
                #expect(try await check.caller(of: token).account == "alice")
            }
        }
    }

    @Test("a file that is put back as it was is good again")
    func putBack() async throws {
        try await with(isURL: false) { source, keys, _, _ in
            let path = try #require(source.source.path)
            try await keys.read()
            try FileManager.default.moveItem(atPath: path, toPath: path + ".aside")
            try source.say("nonsense")
            await #expect(throws: TokenKeySet.Fault.self) { try await keys.read() }
            // The very file: with its number and its time.
            guard rename(path + ".aside", path) == 0 else { throw NeverHappened("a renamed file") }
            #expect(try await keys.read() == 3)
            #expect(keys.standing == .good(3))
        }
    }

    @Test("a named pipe, a device or a directory is no file of keys, and nobody waits for it")
    func noFile() async throws {
        try await withDirectory { directory in
            let pipe = directory.appending(path: "pipe").path
            guard mkfifo(pipe, 0o600) == 0 else { throw NeverHappened("a named pipe") }
            for path in [pipe, "/dev/zero", "/dev/null", "/dev/full", directory.path] {
                for source in [TokenKeySource.file(path), .secret(path)] {
                    let start = ContinuousClock.now
                    let fault = await #expect(throws: TokenKeySet.Fault.self) {
                        try await TokenKeys(source, logger: quiet).read()
                    }
                    #expect(fault?.description.hasPrefix("is no plain file; name a file") == true)
                    #expect(ContinuousClock.now - start < .seconds(10))
                }
            }
        }
    }
}
