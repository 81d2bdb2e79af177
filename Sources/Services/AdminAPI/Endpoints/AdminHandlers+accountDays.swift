import APIKit
import AccountStore
import Accounts
import Base
import FigureStore
import HTTPTypes
import Operations
import Staff

extension AdminHandlers {
    /// How many accounts there were at the end of days.
    var userFigure: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/subscriptions/stats/users", "getUserFigure",
            "How many accounts there were at the end of each month or day, by tier or status. Staff of some apps may ask where all apps of the catalog are theirs.",
            for: .staff, successes: [.init("The figure.", AdminShapes.users.schema, orAs: ["text/csv"])]
        ) { request in
            let (days, step, today, until) = try await accountDays(request)
            do {
                let figure = try await UserFigure(
                    days, by: step, request.query["split"].flatMap { UserFigure.Split(rawValue: $0) },
                    environment: request.query["environment"] ?? Environment.production.rawValue,
                    tiers: try await accounts.current()?.catalog.tiers.map(\.id) ?? [], today: today, until: until,
                    accounts)
                return FigureFile.answer(AdminShapes.users.value(of: figure), request, named: "users")
            } catch let many as TooManyCells {
                throw APIProblem(.tooManyCells, ProblemText(english: "\(many)"))
            }
        }
        endpoint.query =
            Self.dayQuery + [
                .init("split", AdminShapes.userSplits, "What accounts are apart by."), Self.countedEnvironment,
                Self.endedDays, FigureFile.query,
            ]
        endpoint.problems = [.tooManyCells]
        endpoint.refusesFitting = Self.fittingDays
        return endpoint
    }

    /// What accounts used on days.
    var usageFigure: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/subscriptions/stats/usage", "getUsageFigure",
            "What was used of each feature, by tier and by month or day. Staff of some apps may ask where all apps of the catalog are theirs.",
            for: .staff, successes: [.init("The figure.", AdminShapes.usage.schema, orAs: ["text/csv"])]
        ) { request in
            let (days, step, today, until) = try await accountDays(request)
            do {
                let figure = try await UsageFigure(days, by: step, today: today, until: until, usage)
                return FigureFile.answer(AdminShapes.usage.value(of: figure), request, named: "usage")
            } catch let many as TooManyCells {
                throw APIProblem(.tooManyCells, ProblemText(english: "\(many)"))
            }
        }
        endpoint.query = Self.dayQuery + [Self.endedDays, FigureFile.query]
        endpoint.problems = [.tooManyCells]
        endpoint.refusesFitting = Self.fittingDays
        return endpoint
    }

    private static let fittingDays =
        "from and to are days in their order, at is an instant, the answer has at most \(FigureQuestion.mostCells) cells"

    private static let endedDays = at(
        "Only periods that had ended by this instant, such as 2026-01-31T12:00:00Z, by what is known of them now; all by default."
    )

    /// The days of the request, if the member may read accounts: an account belongs to all apps.
    private func accountDays(
        _ request: AdminRequest
    ) async throws -> (days: ClosedRange<CalendarDay>, step: CalendarStep, today: CalendarDay, until: CalendarDay?) {
        let member = try await member(request, for: .read)
        guard try await hasAccounts(member) else { throw try await problem(.otherApps, request, member) }
        let (from, to) = (try Self.day("from", request), try Self.day("to", request))
        let step = request.query["by"].flatMap { CalendarStep(rawValue: $0) } ?? .month
        let today = try await accounts.today()
        var until: CalendarDay?
        if let instant = try Self.instant("at", request) { until = try await accounts.ended(by: instant) }
        guard let days = step.days(from: from, to: to, today: until ?? today) else {
            throw APIProblem(.invalidRequest, "to is before from")
        }
        return (days, step, today, until)
    }
}
