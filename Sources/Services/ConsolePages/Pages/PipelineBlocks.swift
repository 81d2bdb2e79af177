import AppStorePayloads
import Base

/// How the pipeline stands, for the first page: numbers that go on by a stream where the browser runs scripts, and pictures of the last hour and
/// the last day. Workers write all of it down; nothing is counted for a page.
enum PipelineBlocks {
    /// What it takes of the answer of `getOverview`.
    static func blocks(_ now: JSONObject, _ speaker: Speaker) -> [Block] {
        if speaker.instant != nil { return past(now, speaker) }
        var blocks: [Block] = []
        if now.bool("isCurrent") != true { blocks.append(.note(speaker.word("pipeline_silent"), .warning)) }
        blocks.append(.facts(numbers(now, speaker)))
        blocks += plots(now, speaker)
        blocks.append(.table(apps(now.objects("apps"), speaker)))
        let lapsed = now.objects("lapsedLeases")
        if !lapsed.isEmpty { blocks.append(.table(leases(lapsed, speaker))) }
        return blocks
    }

    /// How it stood at an instant, by the rows that are kept.
    private static func past(_ then: JSONObject, _ speaker: Speaker) -> [Block] {
        var blocks: [Block] = [.text(speaker.word("pipeline_then"))]
        guard then.time("asOf") != nil else {
            let begins = then.time("ringBegins").map { speaker.time($0) } ?? "–"
            return blocks + [.note(speaker.word("pipeline_before", ["time": begins]), .calm)]
        }
        if then.bool("isCurrent") != true {
            blocks.append(.note(speaker.word("pipeline_silent_then"), .warning))
        }
        blocks.append(.facts(numbers(then, speaker)))
        return blocks + plots(then, speaker)
    }

    private static func numbers(_ now: JSONObject, _ speaker: Speaker) -> PageFacts {
        let lines = now.objects("queue")
        func queue(_ state: String) -> Shown {
            counted(lines.first { $0.string("state") == state }, "queue.\(state)", speaker)
        }
        func number(_ object: JSONObject?, _ name: StaticString, _ path: String) -> Shown {
            .live(.count(object?.integer(name)), path)
        }
        let (work, events, deliveries) = (now.object("work"), now.object("eventsBehind"), now.object("deliveries"))
        var facts = PageFacts(
            speaker.word("pipeline"), style: .cards,
            [
                (speaker.word("queue_ready"), queue("ready")), (speaker.word("queue_scheduled"), queue("scheduled")),
                (speaker.word("queue_leased"), queue("leased")),
                (
                    speaker.word("dead_letters"),
                    counted(now.object("deadLetters"), "deadLetters", speaker).leading(to: Place("dead-letters"))
                ),
                (
                    speaker.word("oldest_seconds"),
                    number(
                        lines.first { $0.string("state") == "ready" }, "oldestAgeSeconds",
                        "queue.ready.oldestAgeSeconds")
                ),
                (speaker.word("received_rate"), received(work, "receivedPerSecond", speaker)),
                (speaker.word("applied_rate"), number(work, "appliedPerSecond", "work.appliedPerSecond")),
                (speaker.word("received_now"), received(work, "received", speaker)),
                (speaker.word("applied_now"), number(work, "applied", "work.applied")),
                (
                    speaker.word("own_delay"),
                    number(work?.object("own"), "meanMilliseconds", "work.own.meanMilliseconds")
                ),
                (
                    speaker.word("apple_delay"),
                    number(work?.object("apple"), "meanMilliseconds", "work.apple.meanMilliseconds")
                ),
                (speaker.word("events_late"), number(events, "dueSeconds", "eventsBehind.dueSeconds")),
                (
                    speaker.word("deliveries_waiting"),
                    counted(deliveries?.object("waiting"), "deliveries.waiting", speaker)
                        .leading(to: Place("deliveries", query: ["outcome": "waiting"]))
                ),
                (
                    speaker.word("deliveries_dead"),
                    counted(deliveries?.object("dead"), "deliveries.dead", speaker)
                        .leading(to: Place("deliveries", query: ["outcome": "dead"]))
                ), (speaker.word("written_at"), .live(now.at("asOf"), "asOf")),
            ])
        if speaker.instant == nil { facts.stream = speaker.prefix + Place("admin", "overview", "stream").path }
        return facts
    }

    /// A number that has a bound: `more than 10,000`.
    private static func counted(_ object: JSONObject?, _ path: String, _ speaker: Speaker) -> Shown {
        guard let count = object?.integer("count") else { return .live(.nothing, "\(path).count") }
        let isMore = object?.bool("isMore") == true
        let more = speaker.word("more_than", ["number": speaker.number(count)])
        return .live(isMore ? .text(more) : .number(count), "\(path).count")
    }

    /// What was received, up to a bound.
    private static func received(_ work: JSONObject?, _ name: StaticString, _ speaker: Speaker) -> Shown {
        guard work?.bool("isMoreReceived") == true, let count = work?.integer(name) else {
            return .live(.count(work?.integer(name)), "work.\(name)")
        }
        return .live(.text(speaker.word("more_than", ["number": speaker.number(count)])), "work.\(name)")
    }

    // MARK: Pictures

    private static func plots(_ now: JSONObject, _ speaker: Speaker) -> [Block] {
        let (hour, day) = (now.objects("hour"), now.objects("day"))
        var plots: [Plot] = []
        if !hour.isEmpty {
            let received = bars(hour, each: 1, speaker) { sum($0, "received") }
            plots.append(plot(speaker.word("received_hour"), speaker.word("received_hour_note"), received))
        }
        if !day.isEmpty {
            let ready = bars(day, each: 30, speaker) { most($0, "ready") }
            plots.append(plot(speaker.word("ready_day"), speaker.word("ready_day_note"), ready))
            let delays = bars(day, each: 30, speaker) { most($0, "ownMilliseconds") }
            plots.append(plot(speaker.word("delay_day"), speaker.word("delay_day_note"), delays))
        }
        return plots.map { Block.plot($0) }
    }

    private static func plot(_ title: String, _ note: String, _ bars: [Plot.Bar]) -> Plot {
        Plot(title: title, write: { $1.number($0) }, bars: bars, note: note)
    }

    /// A bar for so many minutes, by the points in them; the last one is not over.
    private static func bars(
        _ points: [JSONObject], each minutes: Int64, _ speaker: Speaker, _ value: ([JSONObject]) -> Int64
    ) -> [Plot.Bar] {
        let length = minutes * 60_000
        let groups = Dictionary(grouping: points.filter { $0.time("at") != nil }) { point in
            (point.time("at")?.millisecondsSince1970 ?? 0) / length
        }
        guard let first = groups.keys.min(), let last = groups.keys.max() else { return [] }
        // Where no worker wrote, there is no bar: a gap is seen.
        return (max(first, last - 60)...last).map { place in
            let start = Timestamp(millisecondsSince1970: place * length)
            return Plot.Bar(
                name: String(speaker.time(start).dropFirst(11).prefix(5)), value: groups[place].map(value),
                isUnfinished: place == last)
        }
    }

    private static func sum(_ points: [JSONObject], _ name: StaticString) -> Int64 {
        points.reduce(0) { $0 + ($1.integer(name) ?? 0) }
    }

    private static func most(_ points: [JSONObject], _ name: StaticString) -> Int64 {
        points.compactMap { $0.integer(name) }.max() ?? 0
    }

    // MARK: Proof, and leases

    private static func apps(_ apps: [JSONObject], _ speaker: Speaker) -> PageTable {
        PageTable(
            speaker.word("proof"),
            [
                .text(speaker.word("app")), .text(speaker.word("environment")), .text(speaker.word("proven_until")),
                .text(speaker.word("canary_applied")), .text(speaker.word("canary_missing")),
                .text(speaker.word("canary_outcome")),
            ],
            apps.map { app in
                [
                    app.words("app"), app.standing("environment", of: "environment"), app.at("provenUntil"),
                    app.at("canaryAppliedAt"), app.at("canaryMissingSince"), app.words("canaryOutcome"),
                ]
            }, empty: speaker.word("no_proof"))
    }

    private static func leases(_ leases: [JSONObject], _ speaker: Speaker) -> PageTable {
        PageTable(
            speaker.word("lapsed_leases"), [.text(speaker.word("worker")), .text(speaker.word("since"))],
            leases.map { [$0.words("worker"), $0.at("since")] }, empty: speaker.word("nothing_yet"))
    }
}
