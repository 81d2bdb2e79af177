import APIKit
import AccountStore
import Accounts
import AppStorePayloads
import AppleRecords
import Base
import HTTPTypes
import Staff

extension AdminHandlers {
    /// What Apple asks about refunds, and what became of it.
    var consumptionList: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/consumption-requests", "listConsumptionRequests",
            "What Apple asks about transactions whose customers want their money back, the latest first or by Apple's deadlines, and what became of it. Without an account, a page looks through \(ConsumptionRequests.mostLookedThrough) requests at most.",
            for: .staff,
            successes: [
                consumptionPages(ConsumptionFilter()).success("ConsumptionRequestPage", "A page of requests.")
            ]
        ) { request in
            var filter = ConsumptionFilter()
            let counted = Self.counted(request, for: try await member(request, for: .read))
            (filter.environment, filter.apps) = (counted.environment, counted.apps)
            if let days = request.query["days"].flatMap({ Int($0) }) { filter.days = days }
            if let text = request.query["account"] { filter.account = try await namedAccount(text).token }
            filter.state = request.query["state"].flatMap { ListedConsumptionRequest.State(rawValue: $0) }
            filter.isByDue = Self.isByDue(request)
            filter.at = try Self.instant("at", request)
            return try await consumptionPages(filter).answer(request, self)
        }
        endpoint.query =
            AdminList<ListedConsumptionRequest>.query + Self.countedQuery + [
                .init("days", .integer(1...36_500), "Signed within so many days of 24 hours; 7 by default."),
                .init("state", ListedConsumptionRequest.State.schema, "Only in this state."),
                .init(
                    "account", .string(.init(1, 1000)),
                    "Only about what was bought for this account: its id, or token: and its appAccountToken."),
                Self.sort("those that may still be answered, the first deadline first"),
                Self.at(
                    "Those that had been received by this instant, such as 2026-01-31T12:00:00Z, in the state of then, and days before it; now by default. secondsLeft is counted from it. Why one was not answered is left out until it was settled. A try to send that was taken back counts as not made."
                ),
            ]
        endpoint.refusesFitting = "after is next of a page before, account names one, at is an instant"
        return endpoint
    }

    private func consumptionPages(_ filter: ConsumptionFilter) -> AdminList<ListedConsumptionRequest> {
        AdminList(
            name: "requests", shape: AdminShapes.consumptionRequest, subject: ("consumption_requests", "list"),
            cursorParts: ConsumptionRequests.cursorParts, takes: { ConsumptionRequests.isCursor($0) },
            openedTexts: { _ in 0 }
        ) { [consumption] _, cursor, limit in
            try await consumption.list(filter, after: cursor, limit: limit)
        }
    }
}
