import APIKit
import AccountStore
import AdminAPI
import AppStorePayloads
import Base
import EvidenceStore
import Foundation
import NIOHTTP1
import Operations
import Postgres
import Staff
import TestSupport
import Testing

/// How the pipeline stands, once and as it goes on.
struct OverviewTests {
    /// As a worker writes it, whether a row is due or not.
    private func write(_ desk: RunningDesk, _ change: (inout WorkTally.Count) -> Void = { _ in }) async throws {
        var done = WorkTally.Count()
        change(&done)
        try await desk.observer.query(
            "update storehook.overview_state set sampled_at = sampled_at - interval '6 seconds', detail_at = null, detail = null"
        )
        #expect(try await OverviewStore(desk.observer).note(done))
    }

    private static func canary(_ app: String) -> PostgresQuery {
        """
        insert into storehook.canaries (environment, bundle_id, planned_at, asked_at, test_token, outcome, applied_at, settled_at)
        values ('Production', \(app), now(), now(), 'T', 'applied', now(), now())
        """
    }

    @Test(
        "every role reads it, with the points of the hour and the day that were asked for; before a worker wrote there is none"
    )
    func show() async throws {
        try await withDesk { desk in
            let empty = try await desk.get("/admin/overview", try await desk.member(.viewer).token)
            #expect(empty.status == 200 && empty.object?["asOf"]?.isNull == true, "\(empty.body)")
            #expect(empty.object?.bool("isCurrent") == false && empty.object?.elementCount("queue") == 0)
            try await write(desk) { $0.recorded = 7 }
            for role in StaffRole.allCases {
                let answer = try await desk.get("/admin/overview", try await desk.member(role).token)
                #expect(answer.status == 200 && answer.object?.bool("isCurrent") == true, "\(answer.body)")
                #expect(answer.object?.object("work")?.integer("applied") == 7)
                #expect(answer.object?.elementCount("queue") == 4 && answer.object?.elementCount("hour") == 1)
            }
            let token = try await desk.member(.viewer).token
            for (series, hour, day) in [("none", 0, 0), ("hour", 1, 0), ("day", 0, 0), ("all", 1, 0)] {
                let answer = try await desk.get("/admin/overview?series=\(series)", token)
                #expect(answer.object?.elementCount("hour") == hour && answer.object?.elementCount("day") == day)
            }
            #expect(try await desk.get("/admin/overview?series=week", token).status == 400)
            #expect(try await desk.get("/admin/overview").status == 401)
        }
    }

    @Test("staff of some apps see how far their own apps are proven, and no other")
    func scope() async throws {
        try await withDesk { desk in
            for app in [Desk.app, Desk.other] { try await desk.observer.query(Self.canary(app)) }
            try await write(desk)
            let some = try await desk.get("/admin/overview", try await desk.member(.viewer, of: [Desk.app]).token)
            #expect(some.object?.elementCount("apps") == 1 && !some.body.contains(Desk.other), "\(some.body)")
            let all = try await desk.get("/admin/overview", try await desk.member(.viewer).token)
            #expect(all.object?.elementCount("apps") == 2)
        }
    }

    @Test("An instant has the row that was the latest then, without apps; before the first row it says when that was")
    func past() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.viewer).token
            try await desk.observer.query(Self.canary(Desk.app))
            try await write(desk) { $0.recorded = 7 }
            try await desk.observer.query(
                "update storehook.overview_ring set at = at - interval '10 minutes', slot = (slot + 600) % 720")
            try await write(desk) { $0.recorded = 8 }
            let now = Timestamp(try await desk.now())
            let then = try await desk.get("/admin/overview?at=\(now.adding(seconds: -300))", token)
            #expect(then.status == 200 && then.object?.object("work")?.integer("applied") == 7, "\(then.body)")
            #expect(then.object?.elementCount("apps") == 0 && then.object?.elementCount("hour") == 1, "\(then.body)")
            let before = try await desk.get("/admin/overview?at=\(now.adding(days: -1))", token)
            #expect(before.object?["asOf"]?.isNull == true && before.object?.elementCount("queue") == 0)
            #expect(before.object?.string("ringBegins") == then.object?.string("asOf"), "\(before.body)")
            let latest = try await desk.get("/admin/overview?at=\(now)", token)
            #expect(latest.object?.object("work")?.integer("applied") == 8, "\(latest.body)")
            #expect(try await desk.get("/admin/overview?at=yesterday", token).status == 400)
        }
    }

    // MARK: As it goes on

    private func open(_ desk: RunningDesk, _ token: String) async throws -> TCPSocket {
        try await onThread { [port = desk.port] in
            let socket = try TCPSocket(port: port)
            try socket.send(
                "GET /admin/overview/stream HTTP/1.1\r\nHost: desk\r\nAuthorization: Bearer \(token)\r\n\r\n")
            return socket
        }
    }

    private func read(_ socket: TCPSocket, until marker: String) async throws -> String {
        try await onThread { try socket.receive(until: marker) }
    }

    private static func bounds(
        _ change: (inout OverviewFeed.Bounds) -> Void
    ) -> OverviewFeed.Bounds {
        var bounds = OverviewFeed.Bounds()
        bounds.mostOfOne = bounds.most
        change(&bounds)
        return bounds
    }

    @Test(
        "a hundred who look on get each row, and the database is asked once an interval for all of them; where nobody does, never"
    )
    func shared() async throws {
        try await withDesk(overviews: Self.bounds { $0.interval = .milliseconds(200) }) { desk in
            let token = try await desk.member(.viewer).token
            try await write(desk) { $0.recorded = 7 }
            #expect(desk.feed.readings == 0)
            var sockets: [TCPSocket] = []
            for _ in 0..<100 { sockets.append(try await open(desk, token)) }
            for socket in sockets {
                let text = try await read(socket, until: "\n\n\r\n")
                #expect(text.hasPrefix("HTTP/1.1 200") && text.contains("text/event-stream"))
            }
            let (began, before) = (ContinuousClock.now, desk.feed.readings)
            try await write(desk) { $0.recorded = 8 }
            for socket in sockets {
                let text = try await read(socket, until: #""applied":8"#)
                #expect(text.contains("event: overview\ndata: {"))
            }
            let intervals = Int((ContinuousClock.now - began) / .milliseconds(200))
            #expect(desk.feed.readings - before <= intervals + 2, "each look is one statement")
            for socket in sockets { socket.close() }
            // Who is gone is noticed with the next row.
            try await eventually("nobody looks on") {
                try await write(desk)
                return desk.feed.count == 0
            }
            let after = desk.feed.readings
            try await Task.sleep(for: .milliseconds(600))
            #expect(desk.feed.readings <= after + 1)
        }
    }

    @Test("one stream too many is 503, of all and of one member, and room comes with one that ends")
    func bounded() async throws {
        let bounds = Self.bounds {
            ($0.most, $0.mostOfOne, $0.interval, $0.silence) = (3, 2, .milliseconds(50), .milliseconds(100))
        }
        try await withDesk(overviews: bounds) { desk in
            let kim = try await desk.member(.viewer, mail: "kim@example.com").token
            let sam = try await desk.member(.viewer, mail: "sam@example.com").token
            var open: [TCPSocket] = []
            for token in [kim, kim, sam] {
                let socket = try await self.open(desk, token)
                _ = try await read(socket, until: "retry: 5000")
                open.append(socket)
            }
            for token in [kim, sam] {
                let refused = try await desk.get("/admin/overview/stream", token)
                #expect(refused.status == 503 && refused.headers.first(name: "Retry-After") == "30")
            }
            open[0].close()
            try await eventually("there is room") { desk.feed.count == 2 }
            let another = try await self.open(desk, sam)
            _ = try await read(another, until: "retry: 5000")
            for socket in open.dropFirst() + [another] { socket.close() }
        }
    }

    @Test("how far a job is goes to those who see the job, also where no row was written since")
    func jobs() async throws {
        try await withDesk(overviews: Self.bounds { $0.interval = .milliseconds(50) }) { desk in
            let admin = try await desk.member(.admin).token
            let some = try await desk.member(.admin, of: [Desk.other]).token
            let socket = try await open(desk, admin)
            _ = try await read(socket, until: #""jobs":[]"#)
            let letter = try await desk.bury()
            let made = try await desk.post(
                "/admin/jobs", admin,
                #"{"act": "discard", "filter": {}, "upTo": \#(letter), "confirmed": 1, "reason": "junk"}"#)
            let id = try #require(made.object?.integer("id"))
            _ = try await read(
                socket,
                until: #""jobs":[{"id":\#(id),"act":"discard","state":"waiting","total":1,"done":0,"skipped":0}]"#)
            for (token, count) in [(admin, 1), (some, 0)] {
                let now = try await desk.get("/admin/overview?series=none", token)
                #expect(now.object?.elementCount("jobs") == count, "\(now.body)")
            }
            #expect(try await desk.jobService.work())
            _ = try await read(socket, until: #""jobs":[]"#)
            socket.close()
        }
    }

    @Test("ends with the token, with the member, and with the program; other apps take effect as it goes on")
    func ends() async throws {
        let end = try await withDesk(overviews: Self.bounds { $0.interval = .milliseconds(50) }) { desk in
            for app in [Desk.app, Desk.other] { try await desk.observer.query(Self.canary(app)) }
            try await write(desk)
            let (kim, kims) = try await desk.member(.viewer, mail: "kim@example.com")
            let (sam, sams) = try await desk.member(.viewer, mail: "sam@example.com")
            let (first, second) = (try await open(desk, kims), try await open(desk, sams))
            for socket in [first, second] { _ = try await read(socket, until: Desk.other) }
            _ = try await desk.staff.add(sam.mail, as: .viewer, of: [Desk.app], by: "cli:test")
            // What is left of the first event may come before it.
            var narrowed = ""
            repeat {
                narrowed = try await read(second, until: "\n\n\r\n")
            } while !narrowed.contains("event: overview") || narrowed.contains(Desk.other)
            #expect(narrowed.contains(Desk.app))
            let tokens = try await desk.staff.tokens(of: kim.mail)
            _ = try await desk.staff.revokeToken(try #require(tokens.first?.id), of: kim.mail, by: "cli:test")
            try await desk.tokens.read()
            // Whole bodies, and not connections that were cut off.
            _ = try await read(first, until: "0\r\n\r\n")
            _ = try await desk.staff.remove(sam.mail, by: "cli:test")
            _ = try await read(second, until: "0\r\n\r\n")
            let last = try await open(desk, try await desk.member(.admin).token)
            _ = try await read(last, until: "event: overview")
            return ContinuousClock.now
        }
        #expect(ContinuousClock.now - end < .seconds(15), "a stream that is open does not keep the program")
    }
}
