import EventStore
import Foundation
import Postgres
import TestSupport
import Testing
import WebhookSupport

@Suite("storehook endpoints, and storehook events about deliveries")
struct EndpointCommandTests {
    /// Runs `body` with a site, its settings and a receiver.
    private func with(
        _ answer: @escaping @Sendable (WebhookReceiver.Post) -> WebhookReceiver.Answer = { _ in .status(204) },
        _ body: (Site, [String: String], WebhookReceiver, _ directory: String) async throws -> Void
    ) async throws {
        try await withSite { site in
            try await withTemporaryDirectory { directory in
                try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
                let settings = try makeEndpointSettings(in: directory).merging(["STOREHOOK_LISTEN": "off"]) { $1 }
                try await body(site, settings, WebhookReceiver.start(nil, answer), directory)
            }
        }
    }

    private func add(_ site: Site, _ url: String, _ more: [String] = [], _ settings: [String: String]) async throws
        -> (id: Int, secret: String)
    {
        let program = try site.start(["endpoints", "add", url, "--format", "json"] + more, settings)
        #expect(await program.end() == .exited(0), "\(program.errors)")
        let said = try JSONSerialization.jsonObject(with: Data(program.outputBytes)) as? [String: Any]
        await program.discard()
        return (try #require(said?["id"] as? Int), try #require(said?["secret"] as? String))
    }

    private func write(_ site: Site, _ count: Int = 1, of account: Int) async throws {
        try await site.pool.query(EndpointSite.writing(count, of: account))
        while try await EventStore(site.pool).place() > 0 {}
    }

    @Test("an endpoint's secret is shown once; it is tried, listed, replaced, disabled, enabled and removed")
    func life() async throws {
        try await with { site, settings, receiver, _ in
            let (id, secret) = try await add(
                site, "http://127.0.0.1:\(receiver.port)/hook", ["--kinds", "account.*", "--rate", "50"], settings)
            #expect(secret.wholeMatch(of: /whsec_[A-Za-z0-9+\/]{43}=/) != nil)
            let tried = try await site.run("endpoints", "test", "\(id)", "--format", "table", with: settings)
            #expect(tried.ending == .exited(0) && tried.output.hasPrefix("delivered: endpoint \(id) answered 204"))
            let post = try #require(receiver.posts.first)
            #expect(post.line == "POST /hook" && post.body.contains(#""type":"test""#))
            let list = try await site.run("endpoints", "list", "--format", "json", with: settings)
            let listed = try #require(try list.json() as? [[String: Any]])
            #expect(listed.map { $0["state"] as? String } == ["enabled"])
            #expect(listed[0]["rate"] as? Int == 50 && listed[0]["secret"] == nil)
            #expect(!list.output.contains(secret) && !list.output.contains("whsec"))
            let rotated = try await site.run("endpoints", "rotate", "\(id)", "--format", "json", with: settings)
            let new = try #require(try rotated.json() as? [String: Any])
            #expect(new["secret"] as? String != secret && new["former_secret_ends_at"] is String)
            _ = try await site.run("endpoints", "test", "\(id)", with: settings)
            #expect(receiver.posts.last?.headers["webhook-signature"]?.split(separator: " ").count == 2)
            for _ in 0..<4 { _ = try await site.run("endpoints", "rotate", "\(id)", with: settings) }
            let sixth = try await site.run("endpoints", "rotate", "\(id)", with: settings)
            #expect(sixth.ending == .exited(1) && sixth.errors.contains("has 5 former secrets that sign as well"))
            _ = try await site.run("endpoints", "test", "\(id)", with: settings)
            #expect(receiver.posts.last?.headers["webhook-signature"]?.split(separator: " ").count == 6)
            let disabled = try await site.run("endpoints", "disable", "\(id)", "--format", "json", with: settings)
            #expect((try disabled.json() as? [String: Any])?["state"] as? String == "disabled")
            let enabled = try await site.run("endpoints", "enable", "\(id)", "--format", "json", with: settings)
            #expect((try enabled.json() as? [String: Any])?["state"] as? String == "enabled")
            func rate(_ arguments: String...) async throws -> Int? {
                let program = try site.start(
                    ["endpoints", "enable", "\(id)", "--format", "json"] + arguments, settings)
                #expect(await program.end() == .exited(0), "\(program.errors)")
                let said = try JSONSerialization.jsonObject(with: Data(program.outputBytes)) as? [String: Any]
                await program.discard()
                return said?["rate"] as? Int
            }
            #expect(try await rate("--rate", "5") == 5)
            #expect(try await rate() == 5)
            #expect(try await rate("--rate", "none") == nil)
            let wrong = try await site.run("endpoints", "enable", "\(id)", "--rate", "0", with: settings)
            #expect(wrong.ending == .exited(2) && wrong.errors.contains("--rate goes from 1 to 100000, or is none"))
            receiver.answer { _ in .status(500) }
            let failed = try await site.run("endpoints", "test", "\(id)", "--format", "table", with: settings)
            #expect(failed.ending == .exited(1) && failed.output.contains("not delivered: endpoint \(id) answered 500"))
            #expect(try await site.run("endpoints", "remove", "\(id)", with: settings).ending == .exited(0))
            let none = try await site.run("endpoints", "list", "--format", "table", with: settings)
            #expect(none.output.hasPrefix("no endpoints"))
            let gone = try await site.run("endpoints", "test", "\(id)", with: settings)
            #expect(gone.ending == .exited(1) && gone.errors.contains("there is no endpoint \(id)"))
        }
    }

    @Test("a past event is sent once more, marked and under its own id, to a disabled endpoint too, and counts nowhere")
    func replay() async throws {
        try await with { site, settings, receiver, _ in
            let (id, _) = try await add(
                site, "http://127.0.0.1:\(receiver.port)/hook", ["--kinds", "account.*"], settings)
            let (wanting, _) = try await add(site, "http://127.0.0.1:\(receiver.port)/all", [], settings)
            try await write(site, 2, of: 1)
            let event = try #require(try await EventStore(site.pool).latest(1).events.last)
            _ = try await site.run("endpoints", "disable", "\(id)", with: settings)
            func recorded() async throws -> [String] {
                var rows: [String] = []
                for table in [
                    "endpoints", "endpoint_health", "endpoint_cursors", "delivery_lanes", "delivery_queue",
                    "deliveries_pending", "deliveries",
                ] {
                    rows += try await site.pool.query(
                        "select to_jsonb(t)::text from storehook.\(unescaped: table) t order by 1"
                    ).map { try $0.decode(0) }
                }
                return rows
            }
            let before = try await recorded()
            let sent = try await site.run(
                "endpoints", "test", "\(id)", "--event", event.name, "--format", "json", with: settings)
            #expect(sent.ending == .exited(0), "\(sent.errors)")
            #expect((try sent.json() as? [String: Any])?["webhook_id"] as? String == event.name)
            let post = try #require(receiver.posts.first)
            #expect(post.headers["webhook-id"] == event.name && post.headers["webhook-signature"] != nil)
            #expect(post.body == event.replayed && post.body.contains(#""previousSequence":1,"replay":true,"#))
            #expect(!event.json(previousSequence: 1).contains("replay"))
            receiver.answer { _ in .status(500) }
            let failed = try await site.run(
                "endpoints", "test", "\(id)", "--event", "\(event.id)", with: settings)
            #expect(failed.ending == .exited(1))
            #expect(try await recorded() == before)
            let none = try await site.run("endpoints", "test", "\(id)", "--event", "evt_999999", with: settings)
            #expect(none.ending == .exited(1) && none.errors.contains("there is no event evt_999999"))
            // No worker runs: what is dealt out stays pending.
            #expect(try await EndpointStore(site.pool).deal(Int64(wanting)).events == 2)
            let posted = receiver.posts.count
            let early = try await site.run("endpoints", "test", "\(wanting)", "--event", event.name, with: settings)
            #expect(early.ending == .exited(1) && early.errors.contains("\(event.name) is still to be delivered"))
            #expect(early.errorLines == 1 && receiver.posts.count == posted)
            let wrong = try await site.run("endpoints", "test", "\(id)", "--event", "x", with: settings)
            #expect(wrong.ending == .exited(2) && wrong.errors.contains("names no event"))
        }
    }

    @Test("what would never be called, and what makes no sense, is refused in a line that says why")
    func refused() async throws {
        try await with { site, settings, _, directory in
            let closed = settings.filter { !$0.key.hasPrefix("STOREHOOK_ENDPOINT") }
            for (arguments, with, words) in [
                (["http://example.com/"], closed, "only https is called"),
                (["https://127.0.0.1/"], closed, "is not public (loopback)"),
                (["https://localhost/"], closed, "means this machine"),
                (["https://2130706433/"], closed, "written in another way"),
                (
                    ["https://example.com/", "--kinds", "subscription.bought"], settings,
                    "no kind of event fits subscription.bought; there are subscription.started, "
                ),
                (
                    ["https://example.com/", "--kinds", "account.*,subscription.renew"], settings,
                    "no kind of event fits subscription.renew; did you mean subscription.renewed?"
                ),
                (["https://example.com/", "--rate", "0"], settings, "--rate goes from 1"),
                (["https://10.0.0.1/"], settings, "is not public (private)"),
                (
                    ["https://93.184.216.34/"], closed.filter { $0.key != "STOREHOOK_SECRET_KEY_FILE" },
                    "STOREHOOK_SECRET_KEY_FILE is not set"
                ),
            ] {
                let program = try site.start(["endpoints", "add"] + arguments, with)
                #expect(await program.end() == .exited(2), "\(arguments)")
                #expect(program.errors.contains(words), "\(arguments): \(program.errors)")
                await program.discard()
            }
            let open = "\(directory)/open-key"
            #expect(
                FileManager.default.createFile(
                    atPath: open, contents: Data(repeating: 1, count: 32), attributes: [.posixPermissions: 0o644]))
            for (key, value, words) in [
                ("STOREHOOK_SECRET_KEY_FILE", open, "can be read by others"),
                ("STOREHOOK_SECRET_KEY_FILE", "/nowhere/key", "cannot read /nowhere/key"),
                ("STOREHOOK_ENDPOINT_HTTP", "yes", "STOREHOOK_ENDPOINT_HTTP must be on or off"),
                ("STOREHOOK_ENDPOINT_NETWORKS", "10.0.0.0/33", "STOREHOOK_ENDPOINT_NETWORKS: write addresses"),
                (
                    "STOREHOOK_ENDPOINT_CERTIFICATES", "/nowhere.pem",
                    "/nowhere.pem cannot be read: No such file or directory: correct the path"
                ),
            ] {
                let work = try await site.run("work", with: settings.merging([key: value]) { _, own in own })
                #expect(work.ending == .exited(2) && work.errors.contains(words), "\(key): \(work.errors)")
                #expect(work.errorLines == 1)
            }
        }
    }

    @Test("a console whose file of the key cannot be used starts, says so once, and does all but make secrets")
    func keyless() async throws {
        try await with { site, settings, _, directory in
            let (id, _) = try await add(site, "http://127.0.0.1:9/", [], settings)
            #expect(try await site.run("staff", "add", "kim@example.com", "--role", "admin").ending == .exited(0))
            let made = try await site.run("staff", "token", "kim@example.com", "--format", "json")
            let token = try #require((try made.json() as? [String: Any])?["token"] as? String)
            let short = "\(directory)/short-key"
            #expect(
                FileManager.default.createFile(
                    atPath: short, contents: Data(repeating: 1, count: 31), attributes: [.posixPermissions: 0o600]))
            for (file, why) in [("/nowhere/key", "cannot read"), (short, "must hold 32 bytes")] {
                let named = settings.merging(["STOREHOOK_SECRET_KEY_FILE": file]) { $1 }
                try await site.with(["console", "--port", "0"], named) { program in
                    let api = ServedAPI(port: try #require(program.port))
                    try await eventually("the token is known") {
                        try await api.send("/admin/endpoints/\(id)", token: token).status == 200
                    }
                    let shown = try await api.send("/admin/endpoints/\(id)", token: token)
                    #expect(shown.object?["newSecrets"] as? String == "unusable_key", "\(shown.body)")
                    let refused = try await api.send(
                        "/admin/endpoints/\(id)/rotate", token: token, body: #"{"reason": "it leaked"}"#)
                    #expect(refused.status == 409, "\(refused.body)")
                    let said = program.errors.split(separator: "\n").filter { $0.contains("STOREHOOK_SECRET_KEY_FILE") }
                    #expect(said.count == 1 && said[0].contains(why), "\(program.errors)")
                }
                let doctor = try await site.run("doctor", "--role", "console", "--format", "table", with: named)
                #expect(doctor.output.contains("STOREHOOK_SECRET_KEY_FILE"), "\(doctor)")
            }
        }
    }

    @Test("a worker delivers; what was given up is listed and sent again")
    func delivered() async throws {
        try await with { site, settings, receiver, _ in
            let (id, _) = try await add(site, "http://127.0.0.1:\(receiver.port)/", [], settings)
            try await site.with(["work"], settings) { _ in
                try await write(site, 3, of: 1)
                try await eventually("all of it arrives") { receiver.posts.count >= 3 }
                try await eventually("and is recorded") {
                    try await site.value("select count(*) from storehook.deliveries", as: Int64.self) == 3
                }
                let list = try await site.run(
                    "events", "deliveries", "--endpoint", "\(id)", "--format", "json", with: settings)
                let records = try #require(try list.json() as? [[String: Any]])
                #expect(records.map { $0["outcome"] as? String } == ["delivered", "delivered", "delivered"])
                #expect(records.map { $0["sequence"] as? Int } == [3, 2, 1])
                let event = try #require(records.last?["event"] as? String)
                let again = try await site.run(
                    "events", "resend", event, "--endpoint", "\(id)", "--format", "json", with: settings)
                #expect((try again.json() as? [String: Any])?["resent"] as? Int == 1)
                try await eventually("it arrives again") { receiver.posts.count { $0.id == event } == 2 }
                let account = EndpointSite.token(1).uuidString.lowercased()
                let all = try await site.run(
                    "events", "resend", "--account", account, "--why", "repaired", "--as", "kim", "--format", "json",
                    with: settings)
                #expect((try all.json() as? [String: Any])?["resent"] as? Int == 3)
                try await eventually("all of it arrives again") { receiver.posts.count == 7 }
                let acts = try await site.run(
                    "audit", "list", "--act", "resend_delivery", "--format", "json", with: settings)
                let rows = try #require((try acts.json() as? [String: Any])?["rows"] as? [[String: Any]])
                #expect(rows.map { $0["subject"] as? String } == ["\(id)", "\(id)"], "\(acts.output)")
                #expect(rows.first?["actor"] as? String == "cli:kim")
            }
            for (arguments, words) in [
                (["events", "resend"], "name events"), (["events", "resend", "evt_x"], "evt_x names no event"),
                (["events", "deliveries", "--limit", "0"], "--limit goes from 1"),
                (["events", "resend", "evt_1", "--endpoint", "77"], "there is no endpoint 77"),
                (["events", "deliveries", "--endpoint", "77"], "there is no endpoint 77"),
                (["endpoints", "add", "http://10.0.0.1/"], "by the setting STOREHOOK_ENDPOINT_NETWORKS"),
                (["events", "deliveries", "evt_4711"], "there is no event evt_4711"),
                (["events", "resend", "evt_4711", "evt_4712"], "there is no event evt_4711 and 1 more of those named"),
            ] {
                let program = try site.start(arguments, settings)
                let ending = await program.end()
                #expect(ending != .exited(0) && program.errors.contains(words), "\(arguments): \(program.errors)")
                await program.discard()
            }
        }
    }

    @Test("the receiver in the chapter Events takes what is signed with its secret, and nothing else")
    func documented() async throws {
        let library = try await pythonPackage("standardwebhooks")
        let script = try #require(try Document(Document.chapter("Events")).block(in: "python")).lines
            .joined(separator: "\n")
        try await with { site, settings, _, directory in
            let file = "\(directory)/receiver.py"
            try Data(script.utf8).write(to: URL(fileURLWithPath: file))
            let port = try freePort()
            let (id, secret) = try await add(site, "http://127.0.0.1:\(port)/", [], settings)
            let receiver = try ChildProgram(
                library + "/bin/python", [file],
                environment: ["WEBHOOK_SECRET": secret, "PORT": "\(port)", "PATH": "/usr/bin:/bin"])
            try await eventually("the receiver takes the test event") {
                if let ending = receiver.ending {
                    throw NeverHappened("the receiver runs: \(ending) \(receiver.errors)")
                }
                return try await site.run("endpoints", "test", "\(id)", with: settings).ending == .exited(0)
            }
            #expect(receiver.output.contains(" test {"))
            _ = try await site.run("endpoints", "rotate", "\(id)", with: settings)
            #expect(try await site.run("endpoints", "test", "\(id)", with: settings).ending == .exited(0))
            _ = try await site.run("endpoints", "rotate", "\(id)", "--at-once", with: settings)
            let refused = try await site.run("endpoints", "test", "\(id)", "--format", "json", with: settings)
            #expect(
                refused.ending == .exited(1) && refused.output.contains(#""outcome":"http_401""#), "\(refused.output)")
            await receiver.discard()
        }
    }
}
