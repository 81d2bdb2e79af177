import ArgumentParser
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// A stand-in for Apple's servers as a process of its own, and what programs need to ask it.
struct BenchApple: Sendable {
    /// What the stand-in says at its start.
    private struct Announcement: Decodable {
        var url: String
        var issuerId: String
        var keyId: String
        var privateKeyFile: String
    }

    /// How many notifications are listed, have arrived, and were posted in vain.
    struct Posts: Decodable, Sendable {
        var listed: Int
        var arrived: Int
        var lost: Int
    }

    let port: Int
    private let announcement: Announcement
    private let process: Process

    /// Starts one.
    /// - Parameters:
    ///   - notify: where it posts; nowhere if nil.
    ///   - loss: percent of its posts that get lost.
    private init(_ programs: ChaosPrograms, notify: String?, loss: Double) throws {
        port = try ChaosPrograms.freePort()
        process = Process()
        process.executableURL = ChaosPrograms.beside("storehook")
        process.arguments =
            ["app-store", "--port", "\(port)", "--pki", programs.pki.path, "--loss", "\(loss)"]
            + (notify.map { ["--notify", $0] } ?? [])
        process.environment = programs.environment("")
        process.standardInput = FileHandle.nullDevice
        process.standardError = programs.log
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw NeverCameAbout(what: "a stand-in for Apple that answers") }
            line += more
        }
        announcement = try JSONDecoder().decode(Announcement.self, from: line)
    }

    /// Runs one while `body` lasts.
    static func with<T>(
        _ programs: ChaosPrograms, notify: String? = nil, loss: Double = 0, _ body: (BenchApple) async throws -> T
    ) async throws -> T {
        let apple = try BenchApple(programs, notify: notify, loss: loss)
        do {
            let value = try await body(apple)
            apple.stop()
            return value
        } catch {
            apple.stop()
            throw error
        }
    }

    private func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    /// What programs that ask it have in their environment.
    /// - Parameter port: where they find it, if not where it is.
    func settings(through port: Int? = nil) throws -> [String: String] {
        let key = try Data(contentsOf: URL(fileURLWithPath: announcement.privateKeyFile))
        return [
            "STOREHOOK_APPLE_URL": port.map { "http://127.0.0.1:\($0)" } ?? announcement.url,
            "STOREHOOK_ENVIRONMENTS": "Production", "APPLE_ISSUER_ID": announcement.issuerId,
            "APPLE_KEY_ID": announcement.keyId, "APPLE_PRIVATE_KEY": key.base64EncodedString(),
        ]
    }

    /// Lists notifications of earlier customers, all within the period that Apple's history covers, in Production.
    /// - Parameters:
    ///   - lives: how many customers; by default so many that half of them send two notifications and the stream ends
    ///     in time.
    ///   - isPosted: whether they are posted as well.
    func list(
        _ notifications: Int, of lives: Int? = nil, seed: UInt64, endingAt end: Int64, isPosted: Bool
    ) async throws {
        struct Listed: Decodable { var firstSignedDate: Int64 }
        let listed: Listed = try await ask(
            "past",
            """
            {"notifications":\(notifications),"subscribers":\(lives ?? max(1, notifications / 4)),"seed":\(seed),"endingAt":\(end),\
            "environment":"Production","posted":\(isPosted)}
            """)
        let days = (end - listed.firstSignedDate) / 86_400_000
        guard days < 178 else { throw NeverCameAbout(what: "a history of less than 178 days; it has \(days)") }
    }

    /// How posting goes.
    func posts() async throws -> Posts { try await ask("posts", nil) }

    /// Makes a new purchase in Production.
    /// - Returns: the original transaction's id.
    func sell(_ product: String) async throws -> String {
        struct Sold: Decodable { var originalTransactionId: String }
        let sold: Sold = try await ask("purchases", #"{"productId":"\#(product)","environment":"Production"}"#)
        return sold.originalTransactionId
    }

    private func ask<T: Decodable>(_ path: String, _ body: String?) async throws -> T {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/stand-in/\(path)")
        if let body {
            request.method = .POST
            request.body = .bytes(ByteBuffer(string: body))
        }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(600))
        let answer = Data(try await response.body.collect(upTo: 1 << 20).readableBytesView)
        guard response.status == .ok else {
            throw NeverCameAbout(what: "an answer to \(path): \(String(decoding: answer, as: UTF8.self))")
        }
        return try JSONDecoder().decode(T.self, from: answer)
    }
}
