import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

/// `storehook app-store` as a program of its own.
struct RunningAppStore: Sendable {
    let program: ChildProgram
    let url: String
    /// What it prints at its start.
    let announcement: [String: String]

    /// Starts it and waits until it listens.
    /// - Parameter keys: the directory of its keys.
    init(_ site: Site, keys: String, _ arguments: [String]) async throws {
        let program = try site.start(["app-store", "--port", "0", "--pki", keys] + arguments)
        do {
            try await eventually("the stand-in listens") {
                if let ending = program.ending {
                    throw NeverHappened("it listens; instead: \(ending) \(program.errors)")
                }
                return program.output.contains("\n")
            }
            let line = Data(program.output.prefix { $0 != "\n" }.utf8)
            let members = try JSONSerialization.jsonObject(with: line) as? [String: Any] ?? [:]
            announcement = members.mapValues { "\($0)" }
            url = announcement["url"] ?? ""
            self.program = program
        } catch {
            await program.discard()
            throw error
        }
    }

    func discard() async { await program.discard() }

    /// What a person does in the shop, and its answer; a GET without a body.
    @discardableResult
    func shop(_ path: String, _ body: String? = nil) async throws -> String {
        var request = HTTPClientRequest(url: "\(url)/stand-in/\(path)")
        if let body {
            request.method = .POST
            request.body = .bytes(ByteBuffer(string: body))
        }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        return String(buffer: try await response.body.collect(upTo: 8 << 20))
    }
}

/// A shop that posts to a receiver of the site's while `body` lasts, the settings of programs that serve it, and a directory.
func withShop(
    _ body: (
        _ site: Site, _ store: RunningAppStore, _ settings: [String: String], _ directory: String
    ) async throws -> Void
) async throws {
    try await withSite { site in
        try await withTemporaryDirectory { directory in
            try await withTokenKey { keys in
                try await site.with(["receive", "--port", "0"]) { receiver in
                    let store = try await RunningAppStore(
                        site, keys: directory + "/keys",
                        [
                            "--days-behind", "1", "--notify",
                            "http://127.0.0.1:\(try #require(receiver.port))/webhooks/apple",
                        ])
                    do {
                        let settings = keys.merging([
                            "STOREHOOK_TRUSTED_ROOTS": try #require(store.announcement["rootFingerprint"]),
                            "STOREHOOK_APPLE_KEYS": try #require(store.announcement["keysFile"]),
                            "STOREHOOK_APPLE_URL": store.url,
                        ]) { $1 }
                        try await body(site, store, settings, directory)
                        await store.discard()
                    } catch {
                        await store.discard()
                        throw error
                    }
                }
            }
        }
    }
}
