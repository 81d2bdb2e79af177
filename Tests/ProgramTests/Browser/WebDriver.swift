import AppStorePayloads
import AsyncHTTPClient
import Base
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

/// chromedriver as a program of its own, and the W3C's WebDriver protocol that it speaks: JSON over HTTP.
struct WebDriver: Sendable {
    /// Whether tests in a browser are asked for, as `deploy/test --full` does in its part `browser`.
    static let isAsked = ProcessInfo.processInfo.environment["STOREHOOK_TEST_BROWSER"] != nil

    private let program: ChildProgram
    private let base: String

    /// Starts it and waits until it listens.
    /// - Parameter directory: the home of it and of its browser.
    init(_ directory: String) async throws {
        let program = try ChildProgram(
            try Executable.onPath("chromedriver", of: "chromium-driver"), ["--port=0", "--log-level=WARNING"],
            environment: [
                "HOME": directory, "LANG": "C.UTF-8",
                "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
            ])
        do {
            try await eventually("chromedriver listens") {
                if let ending = program.ending {
                    throw NeverHappened("chromedriver listens; instead: \(ending) \(program.output) \(program.errors)")
                }
                return Self.port(in: program.output) != nil
            }
            let port = try #require(Self.port(in: program.output))
            base = "http://127.0.0.1:\(port)"
            self.program = program
        } catch {
            await program.discard()
            throw error
        }
    }

    private static func port(in output: String) -> Int? {
        output.firstMatch(of: /started successfully on port ([0-9]+)/).flatMap { Int($0.output.1) }
    }

    /// Sends a command.
    /// - Parameter body: what it takes; nil for a command without any.
    /// - Returns: the value of the answer.
    /// - Throws: ``WebDriverFailure`` where the browser does not do it.
    func send(_ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil) async throws -> JSONElement {
        var request = HTTPClientRequest(url: base + path)
        request.method = method
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: body.bytes))
        }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(120))
        let answer = Array(buffer: try await response.body.collect(upTo: 256 << 20))
        guard let value = try JSONDocument(answer).object?["value"] else {
            throw WebDriverFailure(command: "\(method.rawValue) \(path)", code: "no value", message: "")
        }
        guard response.status == .ok else {
            let message = value.object?.string("message") ?? ""
            throw WebDriverFailure(
                command: "\(method.rawValue) \(path) \((body?.text ?? "").prefix(300))",
                code: value.object?.string("error") ?? "\(response.status.code)",
                message: String(message.prefix { $0 != "\n" }))
        }
        return value
    }

    /// Ends its browsers, and then it.
    func stop() async {
        // Killed at once it would leave its browsers behind.
        _ = try? await HTTPClient.shared.execute(HTTPClientRequest(url: base + "/shutdown"), timeout: .seconds(30))
        try? await eventually("chromedriver ends", within: .seconds(30)) { program.ending != nil }
        await program.discard()
    }
}

/// What a browser did not do, and why.
struct WebDriverFailure: Error, CustomStringConvertible {
    let command: String
    /// The protocol's name of it, such as `no such element`.
    let code: String
    let message: String

    var description: String { "the browser does not do \(command): \(code): \(message)" }
}

extension Trait where Self == ConditionTrait {
    /// A test that takes a browser.
    static var inBrowser: Self { .enabled(if: WebDriver.isAsked, "deploy/test --full browser runs it") }
}

extension JSONElement {
    /// The number, also one with a fraction.
    var double: Double? { Double(String(decoding: text, as: UTF8.self)) }
    /// The texts of a list; what is no text in it is left out.
    var strings: [String] { (elements ?? []).compactMap(\.string) }
}
