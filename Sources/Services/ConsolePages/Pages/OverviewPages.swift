import AccountStore
import AppStorePayloads
import Base

/// The first page: how the pipeline stands, what was sold, who the customers are, and what waits for staff.
enum OverviewPages {
    static var pages: [Page] { [.get("/", "overview", in: .overview) { try await overview($0) }] }

    private static func overview(_ call: PageCall) async throws -> PageOutcome {
        let speaker = call.speaker
        let trends = try await call.ask("getSupportStatistics")
        let waiting = try await call.ask("listRefundRequests", ["sort": "due", "limit": "10"])
        var blocks = PipelineBlocks.blocks(try await call.ask("getOverview"), speaker)
        if speaker.instant == nil {
            blocks.append(.facts(sales(try await call.ask("getOrderStatistics"), speaker)))
            // An account is of all apps of the catalog at once.
            if try call.member.apps == nil {
                blocks += accounts(try await call.ask("getAccountStatistics"), speaker)
            }
        } else {
            blocks.append(.text(speaker.word("overview_then")))
        }
        blocks += revenue(trends, speaker)
        blocks.append(.table(RefundPages.table(waiting.objects("requests"), speaker.word("refunds_waiting"), speaker)))
        return .page(
            PageContent(
                speaker.word(of: "section", Section.overview.rawValue), blocks, commands: commands(speaker)))
    }

    private static func commands(_ speaker: Speaker) -> [String] {
        let same: [(String, String?)] = [("environment", speaker.environment), ("at", speaker.instant?.description)]
        let kept = [
            CommandLine.text(["figures", "gross"], same), CommandLine.text(["refunds", "list", "--by-due"], same),
        ]
        // The command counts what waits now.
        return (speaker.instant == nil ? [CommandLine.text(["queue"])] : []) + kept
    }

    private static func sales(_ orders: JSONObject, _ speaker: Speaker) -> PageFacts {
        func amounts(_ name: String) -> Shown {
            .all(orders.objects(name).map { .amount($0.integer("amount"), $0.string("currency")) })
        }
        return PageFacts(
            speaker.word("sales"), style: .cards,
            [
                (speaker.word("orders_today"), orders.count("todayOrders")),
                (speaker.word("revenue_today"), amounts("todayRevenue")),
                (speaker.word("orders_total"), orders.count("totalOrders").leading(to: Place("orders"))),
                (speaker.word("revenue_total"), amounts("totalRevenue")),
                (speaker.word("refunded_total"), amounts("totalRefunded")),
                (
                    speaker.word("refund_rate"),
                    .all(
                        orders.objects("refundRate").map { rate in
                            .text(
                                "\(rate.integer("share").map { speaker.share($0) } ?? "–") \(rate.string("currency") ?? "")"
                            )
                        })
                ),
                (
                    speaker.word("refunds_waiting"),
                    orders.count("pendingRefunds").leading(to: Place("refund-requests", query: ["sort": "due"]))
                ),
            ])
    }

    private static func accounts(_ counts: JSONObject, _ speaker: Speaker) -> [Block] {
        let cards = PageFacts(
            speaker.word("accounts"), style: .cards,
            [
                (speaker.word("users_total"), counts.count("totalUsers").leading(to: Place("customers"))),
                (speaker.word("subscribers"), counts.count("activeSubscribers")),
                (
                    speaker.word("users_trial"),
                    counts.count("trialUsers").leading(to: Place("customers", query: ["status": "trial"]))
                ),
                (
                    speaker.word("users_expired"),
                    counts.count("expiredUsers").leading(to: Place("customers", query: ["status": "expired"]))
                ), (speaker.word("users_free"), counts.count("freeUsers")),
                (
                    speaker.word("trial_conversion"),
                    Shown.part(counts.integer("conversionRate")).leading(to: Place("figures", "trial_conversion"))
                ), (speaker.word("counted_at"), counts.at("countedAt")),
            ])
        let tiers = PageTable(
            speaker.word("tiers"),
            [
                .text(speaker.word("tier")), .number(speaker.word("users")), .number(speaker.word("users_trial")),
                .number(speaker.word("share")),
            ],
            counts.objects("tiers").map { tier in
                [
                    tier.words("tier").leading(to: Place("customers", query: ["tier": tier.string("tier")])),
                    tier.count("users"), tier.count("onTrial"), .part(tier.integer("share")),
                ]
            }, empty: speaker.word("nothing_yet"))
        return [.facts(cards), .table(tiers)]
    }

    /// A picture for each currency: they are never added without a rate.
    private static func revenue(_ statistics: JSONObject, _ speaker: Speaker) -> [Block] {
        let months = Array(statistics.objects("revenueTrends").reversed())
        let currencies = Set(months.flatMap { $0.objects("revenue").compactMap { $0.string("currency") } }).sorted()
        let note = statistics.string("zone").map { speaker.word("months_of", ["zone": ZonedTime.name($0)]) }
        return currencies.prefix(mostPlots).map { currency in
            .plot(
                Plot(
                    title: speaker.word("revenue_months", ["currency": currency]),
                    write: { $1.money($0, currency) },
                    bars: months.map { month in
                        let amount = month.objects("revenue").first { $0.string("currency") == currency }
                        return Plot.Bar(
                            name: month.string("date") ?? "", value: amount?.integer("amount") ?? 0,
                            isUnfinished: month.bool("running") ?? false || !(month.bool("upToDate") ?? true))
                    }, note: note))
        }
    }

    /// Of how many currencies there are pictures.
    private static let mostPlots = 4
}
