import APIKit
import AccountStore
import Accounts
import Base
import FigureStore
import Figures
import HTTPTypes
import Staff

extension AdminHandlers {
    /// A figure by period.
    var figureShow: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/figures/{name}", "getFigure",
            "A figure by month, fiscal month or day. Each cell states how final it is, and links to its rows.",
            for: .staff, successes: [.init("The figure.", AdminShapes.figure.schema, orAs: ["text/csv"])]
        ) { request in
            var question = try await figureQuestion(request)
            let instant = try Self.instant("at", request)
            question.onlyCurrency = request.query["currency"]
            do {
                let answer = try await figures.answer(question, at: instant)
                let shown = ShownFigure(
                    answer: answer, last: request.query["last"].flatMap { Int($0) }, app: request.query["app"],
                    instant: instant)
                return FigureFile.answer(
                    AdminShapes.figure.value(of: shown), request, named: question.figure.rawValue)
            } catch let many as TooManyCells {
                throw APIProblem(.tooManyCells, ProblemText(english: "\(many)"))
            } catch let refusal as FiscalRefusal {
                throw APIProblem(.invalidRequest, ProblemText(english: "\(refusal)"))
            }
        }
        endpoint.pathSchemas = Self.figurePath
        endpoint.query =
            Self.figureQuery + [
                .init(
                    "split", AdminShapes.figureSplits, "What separates values; money is always separate by currency."),
                .init(
                    "currency", .string(.init(0, 3)),
                    "Only values in this currency, such as EUR; empty for values without one."),
                .init(
                    "last", .integer(1...Int64(FigureQuestion.mostCells)),
                    "Only so many cells, the last ones; all by default."),
                FigureFile.query,
            ]
        endpoint.problems = [.noFigure, .tooManyCells]
        endpoint.refusesFitting =
            "from and to are days or fiscal months in their order, the fiscal calendar has their years and fiscal months are kept, at is an instant, in is a currency, the figure has the split, the answer has at most \(FigureQuestion.mostCells) cells"
        return endpoint
    }

    /// The rows of a figure.
    var figureRows: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/figures/{name}/rows", "listFigureRows",
            "The rows of a figure in the order of time; of what stands at the end of a day, such as mrr, the latest first. Their amounts add up to the figure. Rows that are not summed yet are included.",
            for: .staff, successes: [rowPages(nil).success("FigureRowPage", "A page of rows.")]
        ) { request in
            let question = try await figureQuestion(request)
            let month = request.query["month"].flatMap { Int($0) }
            guard month == nil || question.figure.isByMonthsLater else {
                throw APIProblem(.invalidRequest, "month goes with retention and lifetime_value")
            }
            let asked = FigureRowQuestion(
                question, productID: request.query["product"], plan: request.query["plan"],
                storefront: request.query["country"], currency: request.query["currency"], months: month)
            return try await rowPages(asked).answer(request, self)
        }
        endpoint.pathSchemas = Self.figurePath
        endpoint.query =
            AdminList<FigureRow>.query + Self.figureQuery + [
                .init(
                    "product", .string(.init(0, 255)),
                    "Only rows of this product, by Apple's id; empty for rows without one."),
                .init(
                    "plan", .string(.init(0, 32)),
                    "Only rows of products with this plan, such as year or lifetime; empty for rows without one."),
                .init(
                    "country", .string(.init(0, 3)),
                    "Only rows from this country of the App Store, such as USA; empty for rows without one."),
                .init(
                    "currency", .string(.init(0, 3)),
                    "Only rows in this currency of the transaction, such as EUR; empty for rows without one."),
                .init(
                    "month", .integer(Int64(Cohort.months.lowerBound)...Int64(Cohort.months.upperBound)),
                    "A number of months after the first payment. Of retention, only customers that pay then; of lifetime_value, only payments until then."
                ),
            ]
        endpoint.problems = [.noFigure]
        endpoint.refusesFitting =
            "after is next of a page before, from and to are days or fiscal months in their order whose years the fiscal calendar has, at is an instant, in is a currency, month goes with retention and lifetime_value"
        return endpoint
    }

    /// - Parameter asked: the question; nil where only the shape of pages is needed.
    private func rowPages(_ asked: FigureRowQuestion?) -> AdminList<FigureRow> {
        AdminList(
            name: "rows", shape: AdminShapes.figureRow, subject: ("figures", "rows"),
            cursorParts: FigureStore.cursorParts, takes: { FigureStore.isCursor($0) }, openedTexts: { _ in 0 }
        ) { [figures] _, cursor, limit in
            guard let asked else { return ListPage() }
            return try await figures.rows(asked, after: cursor, limit: limit)
        }
    }

    private static let figurePath = ["name": AdminShapes.figureNames]

    /// The parameters of the query for days and periods.
    static let dayQuery: [APIQueryParameter] = [
        .init(
            "from", .string(.init(10, 10)),
            "The first day, such as 2026-01-31. By default there are 30 days, or a year of months."),
        .init("to", .string(.init(10, 10)), "The last day, included; today by default."),
        .init("by", AdminShapes.calendarSteps, "month by default: whole months count."),
    ]

    private static let figureQuery: [APIQueryParameter] =
        [
            .init(
                "from", .string(.init(9, 10)),
                "The first day, such as 2026-01-31; by fiscal-month also a month, such as 2026-FM04. By default there are 30 days, or a year of months."
            ),
            .init("to", .string(.init(9, 10)), "The last day, or month, included; today by default."),
            .init(
                "by", AdminShapes.figureSteps,
                "month by default: whole months count. fiscal-month: whole fiscal months, in days of Los Angeles."),
            .init(
                "in", .string(.init(3, 4)),
                "The currency that money is converted to, such as EUR; the catalog's reporting_currency by default. none: each currency by itself."
            ),
            at(
                "Only periods that had ended by this instant, such as 2026-01-31T12:00:00Z, by what is known of them now; all by default. A value of customers so many months later is null where that day had not ended for all of them. Whole months in Production that were closed then, and each currency by itself, have what was recorded."
            ),
        ] + countedQuery

    private func figureQuestion(_ request: AdminRequest) async throws -> FigureQuestion {
        let member = try await member(request, for: .read)
        guard let figure = Figure(rawValue: request.path["name"] ?? "") else {
            let names = Figure.allCases.map(\.rawValue).joined(separator: ", ")
            throw APIProblem(.noFigure, ProblemText(english: "the figures are \(names)"))
        }
        let step = request.query["by"].flatMap { FigureQuestion.Step(rawValue: $0) } ?? .month
        let (from, to) = (try Self.bound("from", request), try Self.bound("to", request))
        let (environment, apps) = Self.counted(request, for: member)
        let split = request.query["split"].flatMap { FigureQuestion.Split(rawValue: $0) }
        let currency = try await reportingCurrency(request)
        do {
            let question = try await figures.question(
                figure, from: from, to: to, by: step, split, environment: environment, apps: apps, in: currency,
                at: try Self.instant("at", request))
            guard let question else { throw APIProblem(.invalidRequest, "to is before from") }
            try question.check()
            return question
        } catch let error as FiscalRefusal {
            throw APIProblem(.invalidRequest, ProblemText(english: "\(error)"))
        } catch let error as FigureQuestion.NoSplit {
            throw APIProblem(.invalidRequest, ProblemText(english: "\(error)"))
        }
    }

    private static func bound(_ name: String, _ request: AdminRequest) throws(APIProblem) -> FigureBound? {
        guard let text = request.query[name] else { return nil }
        guard let bound = FigureBound(text) else {
            throw APIProblem(
                .invalidRequest,
                ProblemText(english: "\(name) takes a day like 2026-01-31, or by fiscal-month a month like 2026-FM04"))
        }
        return bound
    }

    private func reportingCurrency(_ request: AdminRequest) async throws -> String? {
        switch request.query["in"] {
        case nil: return try await accounts.current()?.catalog.reportingCurrency
        case "none": return nil
        case let code?:
            guard CurrencyCode.isKnown(code) else {
                throw APIProblem(.invalidRequest, "in is a currency of ISO 4217, such as EUR, or none")
            }
            return code
        }
    }

    // MARK: What counts

    /// The parameters of the query for environment and apps.
    static let countedQuery: [APIQueryParameter] = [
        countedEnvironment, .init("app", .string(.init(1, 255)), "Only of this app (bundle id)."),
    ]
    static let countedEnvironment = APIQueryParameter(
        "environment", Environment.schema, "Production by default.")

    /// The environment and the apps of a request. A member with some apps has no others.
    static func counted(
        _ request: AdminRequest, for member: StaffMember
    ) -> (environment: String, apps: Set<String>?) {
        let asked = request.query["app"].map { Set([$0]) }
        let apps: Set<String>? =
            switch member.scope {
            case .all: asked
            case .some(let own): asked?.intersection(own) ?? own
            }
        return (request.query["environment"] ?? Environment.production.rawValue, apps)
    }
}
