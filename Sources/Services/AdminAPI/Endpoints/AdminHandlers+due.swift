import APIKit
import AccountStore
import AppleRecords
import Base
import HTTPTypes
import Staff

extension AdminHandlers {
    /// What was due and was not heard of, by age.
    var dueShow: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/due", "getDue",
            "How many renewals, ends of trials, grace and retries were due in Production and were not heard of, as counted last.",
            for: .staff, successes: [.init("The numbers.", AdminShapes.due.schema)]
        ) { request in
            let apps = Self.counted(request, for: try await member(request, for: .read)).apps
            return APIAnswer(.ok, AdminShapes.due.value(of: try await due.counts(of: apps)))
        }
        endpoint.query = [.init("app", .string(.init(1, 255)), "Only of this app (bundle id).")]
        return endpoint
    }

    /// Which these are, the latest first.
    var dueList: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/due/ends", "listDueEnds",
            "What was due and was not heard of, the latest first: of the last three days, and of the time before, up to 10,000 each.",
            for: .staff, successes: [duePages(DueFilter()).success("UnheardEndPage", "A page of ends.")]
        ) { request in
            var filter = DueFilter()
            filter.apps = Self.counted(request, for: try await member(request, for: .read)).apps
            filter.age = request.query["age"].flatMap { DueAge(rawValue: $0) }
            filter.isImported = request.query["imported"] == "true"
            return try await duePages(filter).answer(request, self)
        }
        endpoint.query =
            AdminList<UnheardEnd>.query + [
                .init("age", DueAge.schema, "Only those that were due so long ago."),
                .init("app", .string(.init(1, 255)), "Only of this app (bundle id)."),
                .init(
                    "imported", .boolean,
                    "Those of imported purchases that Apple never spoke of, in the place of the others."),
            ]
        endpoint.refusesFitting = "after is next of a page before"
        return endpoint
    }

    private func duePages(_ filter: DueFilter) -> AdminList<UnheardEnd> {
        AdminList(
            name: "ends", shape: AdminShapes.unheardEnd, subject: ("due", "list"), cursorParts: DueEnds.cursorParts,
            takes: { DueEnds.isCursor($0) }, openedTexts: { _ in 0 }
        ) { [due] _, cursor, limit in
            try await due.list(filter, after: cursor, limit: limit)
        }
    }
}
