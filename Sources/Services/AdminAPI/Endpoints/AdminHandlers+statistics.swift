import APIKit
import AccountStore
import Accounts
import Base
import FigureStore
import Figures
import HTTPTypes
import OrderStore
import Staff
import Subscriptions

extension AdminHandlers {
    /// What was sold and refunded, in all and today.
    var orderStatistics: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/orders/stats", "getOrderStatistics",
            "What was ordered, paid and refunded, in all and today, by currency, and in the reporting currency.",
            for: .staff,
            successes: [.init("The statistics.", AdminShapes.orderStatistics.schema)]
        ) { request in
            let (environment, apps) = Self.counted(request, for: try await member(request, for: .read))
            let totals = try await figures.totals(
                of: ShownOrderStatistics.measures, environment: environment, apps: apps)
            let pending = try await refunds.count(in: .pending, environment: environment, apps: apps)
            return APIAnswer(
                .ok,
                AdminShapes.orderStatistics.value(
                    of: ShownOrderStatistics(environment: environment, totals: totals, pendingRefunds: pending)))
        }
        endpoint.query = Self.countedQuery
        return endpoint
    }

    /// How revenue went, month by month.
    var supportStatistics: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/support/stats", "getSupportStatistics",
            "How revenue went in the last twelve months, by currency, and in the reporting currency.", for: .staff,
            successes: [.init("The statistics.", AdminShapes.supportStatistics.schema)]
        ) { request in
            let (environment, apps) = Self.counted(request, for: try await member(request, for: .read))
            let last = try await lastMonth(request)
            let first = last.advanced(by: 1 - ShownSupportStatistics.months) ?? last
            let question = FigureQuestion(
                .gross, first.days.lowerBound...last.days.upperBound, by: .month, environment: environment, apps: apps)
            var converted: FigureAnswer?
            if let currency = try await accounts.current()?.catalog.reportingCurrency {
                var question = question
                question.currency = currency
                converted = try await figures.answer(question)
            }
            return APIAnswer(
                .ok,
                AdminShapes.supportStatistics.value(
                    of: ShownSupportStatistics(answer: try await figures.answer(question), converted: converted)))
        }
        endpoint.query =
            Self.countedQuery + [
                Self.at(
                    "The twelve months that had ended by this instant, such as 2026-01-31T12:00:00Z, by what is known of them now, also where they are closed; this month and the eleven before by default."
                )
            ]
        endpoint.refusesFitting = "at is an instant"
        return endpoint
    }

    /// This month; of an instant, the last one that had ended.
    private func lastMonth(_ request: AdminRequest) async throws -> FigureMonth {
        guard let instant = try Self.instant("at", request) else { return FigureMonth(try await figures.today()) }
        let ended = try await figures.ended(by: instant)
        let month = FigureMonth(ended)
        return ended == month.days.upperBound ? month : month.advanced(by: -1) ?? month
    }

    /// How many accounts there are, by tier and by status.
    var accountStatistics: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/subscriptions/stats/overview", "getAccountStatistics",
            "How many accounts there are, by tier and by status. Staff of some apps may ask where all apps of the catalog are theirs.",
            for: .staff,
            successes: [.init("The statistics.", AdminShapes.accountStatistics.schema)]
        ) { request in
            let member = try await member(request, for: .read)
            // An account is of all apps at once, and its tier may be another app's.
            guard try await hasAccounts(member) else { throw try await problem(.otherApps, request, member) }
            let environment = request.query["environment"] ?? Environment.production.rawValue
            let trials = try await figures.totals(of: FigureMeasure.trials, environment: environment, apps: nil)
            return APIAnswer(
                .ok,
                AdminShapes.accountStatistics.value(
                    of: ShownAccountStatistics(
                        environment: environment, counts: try await accounts.counts(in: environment),
                        catalogTiers: try await accounts.current()?.catalog.tiers.map(\.id) ?? [], trials: trials)))
        }
        endpoint.query = [Self.countedEnvironment]
        return endpoint
    }
}
