import Foundation
import TestSupport
import Testing

@testable import storehook

@Suite("Long and odd bodies sent to storehook serve", .serialized)
struct LongBodyTests {
    /// Bodies of some four megabytes, each of another shape.
    private static let shapes: [(name: String, body: String)] = [
        ("values in a list", #"{"x":["# + String(repeating: "0,", count: 2_100_000) + "0]}"),
        ("lists in a list", #"{"x":["# + String(repeating: "[],", count: 1_400_000) + "[]]}"),
        ("members", "{" + (0..<300_000).map { #""m\#($0)":0"# }.joined(separator: ",") + "}"),
        (
            "values that nobody asks for, twice each",
            #"{"x":["# + String(repeating: #"{"a":"b"},"#, count: 400_000) + "{}]}"
        ),
        ("one text", #"{"receiptData":""# + String(repeating: "A", count: 4_194_000) + #""}"#),
        ("one text of escapes", #"{"receiptData":""# + String(repeating: #"\u0041"#, count: 699_000) + #""}"#),
        ("a text without an end", #"{"receiptData":""# + String(repeating: "A", count: 4_194_000)),
        (
            "a hundred long texts",
            #"{"signedTransactions":["#
                + (0..<100).map { _ in "\"" + String(repeating: "a.", count: 20_900) + "\"" }.joined(separator: ",")
                + "]}"
        ),
        ("no JSON", String(repeating: "\u{7f}", count: 4_194_304)),
    ]

    private static func head(_ path: String, _ token: String, _ rest: String) -> String {
        "POST \(path) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(token)\r\nContent-Type: application/json\r\n\(rest)\r\n\r\n"
    }

    /// Sends one body as one of these senders does, and waits for the answer.
    /// - Returns: its status; nil where the connection ended without.
    private static func send(_ number: Int, _ body: String, _ token: String, port: Int) throws -> Int? {
        let socket = try TCPSocket(port: port)
        defer { socket.close() }
        let path = number % 2 == 0 ? "/v1/subscriptions/verify" : "/v1/subscriptions/restore"
        // Refused ones end before all of it is sent.
        if number % 3 == 0 {
            try? socket.send(head(path, token, "Transfer-Encoding: chunked"))
            let bytes = Array(body.utf8)
            for start in stride(from: 0, to: bytes.count, by: 65_536) {
                let part = bytes[start..<min(start + 65_536, bytes.count)]
                guard
                    (try? socket.send(Array("\(String(part.count, radix: 16))\r\n".utf8) + part + Array("\r\n".utf8)))
                        != nil
                else { break }
            }
            try? socket.send("0\r\n\r\n")
        } else {
            try? socket.send(head(path, token, "Content-Length: \(body.utf8.count)\r\nConnection: close"))
            try? socket.send(body)
        }
        let answer = String(decoding: (try? socket.receive()) ?? [], as: UTF8.self)
        return answer.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    }

    /// Sends each shape over 64 connections, twice each; half of them are one caller's.
    /// - Returns: how often each status came; nil where a connection ended without.
    private static func flood(port: Int, _ tokens: [String]) async throws -> [Int?: Int] {
        try await withThrowingTaskGroup(of: [Int?].self) { group in
            for number in 0..<64 {
                group.addTask {
                    let shape = shapes[number % shapes.count]
                    let token = number % 2 == 0 ? tokens[0] : tokens[number % tokens.count]
                    var statuses: [Int?] = []
                    for _ in 0..<2 {
                        let status = try await onThread { try send(number, shape.body, token, port: port) }
                        #expect([nil, 200, 400, 413, 503].contains(status), "\(shape.name)")
                        statuses.append(status)
                    }
                    return statuses
                }
            }
            return try await group.reduce(into: [:]) { counts, statuses in
                for status in statuses { counts[status, default: 0] += 1 }
            }
        }
    }

    /// Asks as a well-behaved app does, until this task is cancelled.
    /// - Returns: how often, and how long the slowest two requests in a row took.
    private static func ask(_ api: ServedAPI, _ token: String) async throws -> (count: Int, slowest: Duration) {
        let body = #"{"signedTransactionInfo":""# + String(repeating: "a", count: 60_000) + #""}"#
        var (count, slowest) = (0, Duration.zero)
        while !Task.isCancelled {
            let began = ContinuousClock.now
            // Without its cancellation: a request that was begun is to be answered.
            let pair = Task {
                (
                    try await api.send("/v1/account", token: token).status,
                    try await api.send("/v1/subscriptions/verify", token: token, body: body).status
                )
            }
            let (read, verified) = try await pair.value
            #expect(read == 200 && verified == 400)
            slowest = max(slowest, .now - began)
            count += 2
        }
        return (count, slowest)
    }

    @Test("take no more memory than it may, from one caller or from many, and callers with short bodies are answered")
    func bounded() async throws {
        try await withSite { site in
            try await withTokenKey { settings in
                let own = settings.merging([
                    "STOREHOOK_REQUESTS_PER_ADDRESS": "1000000", "STOREHOOK_REQUESTS_PER_ACCOUNT": "1000000",
                ]) { $1 }
                let key = try #require(settings["STOREHOOK_JWT_KEYS"]).replacing("jwt.json", with: "jwt-key.pem")
                var signed: [String] = []
                for number in 0..<9 {
                    let answer = try await site.run("demo", "token", "account-\(number)", "--key", key, with: settings)
                    signed.append(answer.output.trimmingCharacters(in: .whitespacesAndNewlines))
                }
                let tokens = signed
                try await site.with(["serve", "--port", "0", "--memory", "256MiB"], own) { program in
                    let port = try #require(program.port)
                    let api = ServedAPI(port: port)
                    let honest = Task { try await Self.ask(api, tokens[0]) }
                    let statuses = try await Self.flood(port: port, Array(tokens.dropFirst()))
                    honest.cancel()
                    let (count, slowest) = try await honest.value
                    #expect(count > 0)
                    print("honest requests: \(count), the slowest pair took \(slowest); others: \(statuses)")
                    #expect(program.ending == nil)
                    #expect(try program.peakMemory() < 256)
                    // Some of the long ones were read, and refused for what they say.
                    #expect(statuses[400] ?? 0 > 0)
                    #expect(try await api.send("/v1/account", token: tokens[0]).status == 200)
                }
            }
        }
    }

    @Test("are refused by an amount of memory in which none could be read, and where it is no amount")
    func amounts() async throws {
        try await withSite { site in
            for wrong in ["64MiB", "much", "-1", "1.5GiB", "9999999999GiB"] {
                let answer = try await site.run("serve", "--memory", wrong)
                #expect(answer.ending == .exited(2), "\(wrong): \(answer.errors)")
            }
        }
    }
}
