import AsyncHTTPClient
import EvidenceStore
import Foundation
import Glibc
import NIOCore
import NIOHTTP1
import Postgres
import Simulation
import TestSupport
import Testing

@Suite("What the programs log", .serialized)
struct LogTests {
    /// Lines by what they say.
    private struct Log {
        var text: String
        var lines: [[String: String]]

        init(_ programs: ChildProgram...) throws {
            text = programs.map { $0.errors + $0.output }.joined()
            lines = try text.split(separator: "\n").map { line in
                try #require(
                    JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String], "no JSON: \(line)")
            }
        }

        func saying(_ message: String) -> [[String: String]] { lines.filter { $0["message"] == message } }
    }

    private func post(_ body: [UInt8], to port: Int, _ headers: HTTPHeaders = [:]) async throws {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/webhooks/apple")
        request.method = .POST
        request.headers = headers
        request.body = .bytes(ByteBuffer(bytes: body))
        _ = try await client.execute(request, timeout: .seconds(60)).status
    }

    /// Posts of all kinds with a secret in them.
    private static func hostile(_ genuine: [String], _ secret: String) -> [[UInt8]] {
        let claims = Data(#"{"alg":"ES256","x5c":["\#(secret)","a","b"]}"#.utf8).base64URL
        let words = Data(#"{"notificationUUID":"\#(secret)","notificationType":"\#(secret)"}"#.utf8).base64URL
        var texts = genuine
        texts.append(genuine[0] + secret)
        texts.append(secret)
        texts.append("\(secret).\(secret).\(secret)")
        texts.append("\(claims).\(words).\(secret)")
        let stranger = Data(#"{"notificationType":"STRANGER"}"#.utf8).base64URL
        texts.append("\(claims).\(stranger).\(secret)")
        texts.append(genuine[0].split(separator: ".").dropLast().joined(separator: ".") + ".\(secret)")
        var bodies: [[UInt8]] = texts.map { UnsignedNotification.postBody($0) }
        bodies.append(Array(#"{"signedPayload":["\#(secret)"]}"#.utf8))
        bodies.append(Array(#"{"\#(secret)":1}"#.utf8))
        bodies.append(Array(secret.utf8) + [0xFF, 0xFE, 0])
        bodies.append([UInt8](repeating: UInt8(ascii: "x"), count: 300_000))
        return bodies
    }

    @Test("names a notification by UUID, row, attempt and worker wherever one is settled, buried, or put off")
    func identities() async throws {
        try await withSite { site in
            var subscriber = SimulatedSubscriber(lane: 1, seed: 1)
            let line = subscriber.buy(.premiumMonthly, at: Site.now - 10_000_000)
            subscriber.switchAutoRenew(line, on: false, at: Site.now - 5_000_000)
            let notifications = subscriber.takeNotifications()
            let texts = notifications.map { $0.signed(by: site.authority) }
            let fault = RefusingTrigger(where: "new.type = 'DID_CHANGE_RENEWAL_STATUS'", state: "22000")
            try await site.pool.withTransaction { try $0.executeScript(fault.script) }
            try await site.outbox.store(texts.map { Array($0.utf8) } + [Array("junk".utf8)])
            // As if a worker had died with the first row in hand.
            try await site.pool.query(
                """
                update storehook.outbox_queue set attempts = 1, lease_owner = 'gone', lease_token = gen_random_uuid()
                 where id = (select min(id) from storehook.outbox_queue)
                """)
            try await site.with(["work"], ["STOREHOOK_LOG_LEVEL": "debug"]) { worker in
                try await site.untilDone()
                try await eventually("it has told of all three") {
                    let log = try Log(worker)
                    return log.saying("Settled a notification").count + log.saying("Buried a notification").count == 3
                }
                let log = try Log(worker)
                let settled = try #require(log.saying("Settled a notification").first)
                #expect(settled["notification_uuid"] == notifications[0].uuid.lowercased())
                #expect(settled["attempt"] == "2" && settled["outbox_id"] == "1" && settled["outcome"] == "applied")
                let buried = log.saying("Buried a notification")
                let refused = try #require(buried.first { $0["reason"] == "sqlstate_22000" })
                #expect(refused["notification_uuid"] == notifications[1].uuid.lowercased())
                #expect(refused["category"] == "unprocessable" && refused["attempt"] == "1")
                let junk = try #require(buried.first { $0["reason"] == "malformed" })
                #expect(junk["notification_uuid"] == nil && junk["outbox_id"] == "3")
                let taken = log.lines.filter { $0["message"]?.hasPrefix("Took over a notification") == true }
                #expect(taken.map { $0["outbox_id"] } == ["1"] && taken.first?["attempt"] == "2")
                for line in [settled, refused, junk] + taken {
                    #expect(line["worker"]?.hasSuffix(":\(worker.id)") == true, "\(line)")
                }
            }
        }
    }

    @Test("is bounded by the batch, whatever is posted: ten buried notifications are named, the rest counted")
    func bounded() async throws {
        try await withSite { site in
            try await site.outbox.store((0..<60).map { Array("junk.\($0)".utf8) })
            try await site.with(["work", "--batch", "60"]) { worker in
                try await site.untilDone()
                try await eventually("it has told the sum") {
                    try Log(worker).lines.contains { $0["dead"] == "60" }
                }
                #expect(try Log(worker).saying("Buried a notification").count == 10)
            }
        }
    }

    @Test(
        "repeats nothing that was posted, and no secret, on hostile posts, poison, kills and a database that goes away")
    func silence() async throws {
        try await withSite { site in
            let secret = "5ECRET-" + String(repeating: "hush", count: 5)
            let token = "7f1de78e-0d4e-4c5e-9d3c-1c5f5a8c7a10"
            var subscriber = SimulatedSubscriber(appAccountToken: token, lane: 1, seed: 1)
            let line = subscriber.buy(.premiumMonthly, at: Site.now - 10_000_000)
            subscriber.switchAutoRenew(line, on: false, at: Site.now - 5_000_000)
            let genuine = subscriber.takeNotifications().map { $0.signed(by: site.authority) }
            let hostile = Self.hostile(genuine, secret)
            let proxy = try await DatabaseProxy(to: site.database)
            let environment = [
                "STOREHOOK_LOG_LEVEL": "trace", "DATABASE_URL": proxy.url, "STOREHOOK_LEASE_SECONDS": "1",
            ]
            let log = try await site.with(["receive", "--port", "0", "--metrics-port", "0"], environment) { receiver in
                let port = try #require(receiver.port)
                for body in hostile {
                    try await post(
                        body, to: port, ["Authorization": "Bearer \(secret)", "X-\(secret)": "1", "User-Agent": secret])
                }
                // One is killed with rows in hand, another takes them over, and both programs see the database go and come.
                let first = try site.start(["work", "--batch", "2", "--metrics-port", "0"], environment)
                try await first.untilUnderWay()
                first.signal(SIGKILL)
                await first.end()
                let log = try await site.with(["work", "--metrics-port", "0"], environment) { worker in
                    proxy.refuse()
                    try await post(hostile[0], to: port)
                    try await eventually("both say so") {
                        try Log(receiver).lines.contains { $0["level"] == "error" }
                            && Log(worker).lines.contains { $0["error"] != nil }
                    }
                    try proxy.serve()
                    try await site.untilDone()
                    let pages = [
                        try await fetch("http://127.0.0.1:\(try await receiver.metricsPort())/metrics").body,
                        try await fetch("http://127.0.0.1:\(try await worker.metricsPort())/metrics").body,
                    ]
                    for (outcome, count) in [("stored", 8), ("malformed", 3), ("too_large", 1), ("unavailable", 1)] {
                        #expect(pages[0].contains("storehook_received_total{outcome=\"\(outcome)\"} \(count)\n"))
                    }
                    var log = try Log(receiver, worker, first)
                    log.text += pages.joined()
                    return log
                }
                await first.discard()
                return log
            }
            proxy.refuse()
            let letters = try await site.outbox.deadLetters(.init(), limit: 99)
            #expect(letters.count >= 6 && letters.contains { $0.type == "STRANGER" })
            let said = log.text + letters.map { "\($0.message) \($0.reason)" }.joined(separator: "\n")
            let password = URLComponents(string: site.database.url)?.password
            var words = ["5ECRET", "hush", "STRANGER", "xxxxxxxx", "postgresql://"]
            words.append(subscriber[subscriber.latest(of: line)].webOrderLineItemId ?? "webOrderLineItemId")
            // Whose the purchase is, a line about what was applied says by the account's token.
            #expect(log.lines.allSatisfy { line in !line.contains { $0 != "app_account_token" && $1.contains(token) } })
            words += genuine.flatMap { $0.split(separator: ".").map { String($0.dropFirst(20).prefix(30)) } }
            if let password { words.append(password) }
            for word in words {
                #expect(!said.contains(word), "\(word)")
            }
        }
    }
}

extension Data {
    fileprivate var base64URL: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
