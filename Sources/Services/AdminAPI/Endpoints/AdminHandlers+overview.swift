import APIKit
import AccountStore
import Base
import EvidenceStore
import HTTPTypes
import Staff

extension AdminHandlers {
    /// How the pipeline stands.
    var overviewShow: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/overview", "getOverview",
            "How the pipeline stands: queue, rates, delays, proof, deliveries. Workers write it down; nothing is counted for an answer.",
            for: .staff, successes: [.init("The overview.", AdminShapes.overviewWithSeries.schema)]
        ) { request in
            let member = try await member(request, for: .read)
            let series = request.query["series"].flatMap { Series(rawValue: $0) } ?? .all
            let instant = try Self.instant("at", request)
            let shown = ShownOverviewWithSeries(
                overview: ShownOverview(try await overview.latest(at: instant), to: member.scope),
                hour: try await series.hasHour ? overview.series(ofDay: false, endingAt: instant) : [],
                day: try await series.hasDay ? overview.series(ofDay: true, endingAt: instant) : [])
            return APIAnswer(.ok, AdminShapes.overviewWithSeries.value(of: shown))
        }
        endpoint.query = [
            .init(
                "series", .choice(Series.allCases.map(\.rawValue)),
                "Which points come with it: of the hour, of the day, all of them by default, or none."),
            Self.at(
                "The row that was the latest at this instant, such as 2026-01-31T12:00:00Z, and the points up to it. Rows are kept for a day: before ringBegins there are none. Apps, lapsed leases and jobs are left out."
            ),
        ]
        endpoint.refusesFitting = "at is an instant"
        return endpoint
    }

    private enum Series: String, CaseIterable {
        case all, hour, day, none

        var hasHour: Bool { self == .all || self == .hour }
        var hasDay: Bool { self == .all || self == .day }
    }

    /// The same, as it goes on.
    var overviewStream: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/overview/stream", "streamOverview",
            "The overview as it goes on, by server-sent events: each of the kind overview, its data what GET /admin/overview answers, without hour and day. It ends with the token.",
            for: .staff,
            successes: [.init("The events.", nil, orAs: ["text/event-stream"])]
        ) { request in
            let member = try await member(request, for: .read)
            let stream = try feed.stream(for: member, whileGood: request.isStillGood, cutOff: request.cutOff)
            var headers: HTTPFields = [:]
            // nginx would keep events back until it has some kilobytes.
            if let name = Self.buffering { headers[name] = "no" }
            return APIAnswer(contentType: "text/event-stream; charset=utf-8", headers: headers) { write in
                // When a browser comes back after the end of a stream, in milliseconds.
                try await write(Array("retry: 5000\n\n".utf8))
                try await stream.send(write)
            }
        }
        endpoint.isWatched = true
        return endpoint
    }

    private static let buffering = HTTPField.Name("X-Accel-Buffering")
}
