import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport

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
