import APIKit
import AccountStore
import AppStorePayloads
import AppleRecords
import Base
import HTTPTypes
import Logging
import PurchaseStore
import Staff

extension AdminHandlers {
    /// Extensions of renewal dates, the youngest first.
    var extensionList: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/extensions", "listExtensions",
            "Extensions of renewal dates by Apple, the youngest first, and how far they have come.", for: .staff,
            successes: [extensionPages(ExtensionFilter()).success("RenewalExtensionPage", "A page of extensions.")]
        ) { request in
            var filter = ExtensionFilter()
            let counted = Self.counted(request, for: try await member(request, for: .read))
            (filter.environment, filter.apps) = (counted.environment, counted.apps)
            filter.originalTransactionID = request.query["subscription"]
            filter.isOpen = request.query["unfinished"] == "true"
            filter.at = try Self.instant("at", request)
            return try await extensionPages(filter).answer(request, self)
        }
        endpoint.query =
            AdminList<ShownRenewalExtension>.query + Opening.query + Self.countedQuery + [
                .init("subscription", .string(.init(1, 255)), "Only of this one (originalTransactionId)."),
                .init("unfinished", .boolean, "Only those that are not finished."), Self.extensionsAt,
            ]
        endpoint.refusesFitting =
            "after is next of a page before, at is an instant, a file of opened texts has a reason"
        return endpoint
    }

    private func extensionPages(_ filter: ExtensionFilter) -> AdminList<ShownRenewalExtension> {
        AdminList(
            name: "extensions", shape: AdminShapes.renewalExtension, subject: ("extensions", "list"),
            cursorParts: RenewalExtensions.cursorParts, takes: { Int64($0.parts[0]) != nil },
            openedTexts: { $0.openedTexts }
        ) { [extensions] opening, cursor, limit in
            try await extensions.list(
                filter, after: cursor, limit: limit, lookingThrough: BoundedListing.mostLookedThrough
            ).map { ShownRenewalExtension($0, isOpen: opening.isOpen) }
        }
    }

    /// An extension, and the subscriptions that Apple could not extend.
    var extensionShow: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/extensions/{id}", "getExtension",
            "An extension of renewal dates, step by step, and the subscriptions that Apple could not extend.",
            for: .staff, successes: [.init("The extension.", AdminShapes.detailedExtension.schema)]
        ) { request in
            let member = try await member(request, for: .read)
            let instant = try Self.instant("at", request)
            let record = try await extensionOfPath(request, member, at: instant)
            let opening = try await Opening(request, isExport: false, of: ("extension", "\(record.id)"), self)
            let shown = ShownRenewalExtension(
                record, isOpen: opening.isOpen,
                failures: try await extensions.failures(of: record.id, limit: 1000, at: instant))
            try await opening.note(shown.openedTexts)
            return APIAnswer(.ok, AdminShapes.detailedExtension.value(of: shown))
        }
        endpoint.pathSchemas = Self.extensionPath
        endpoint.query = Opening.query + [Self.extensionsAt]
        endpoint.problems = [.notFound]
        endpoint.refusesFitting = "at is an instant"
        return endpoint
    }

    private static let extensionsAt = at(
        "Those that had been asked for by this instant, such as 2026-01-31T12:00:00Z, in the state of then; now by default. state and askedAgain are null where Apple was asked again since: only the last try has dates. waitingFor is left out."
    )

    /// The end of an extension that is not finished.
    var extensionClose: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .post, "/admin/extensions/{id}/close", "closeExtension",
            "Gives an extension up: workers follow it no longer. What Apple has taken on it does all the same.",
            for: .staff, successes: [.init("It is done, and on record.", AdminShapes.renewalExtension.schema)]
        ) { request in
            let body = try Self.body(request)
            let member = try await member(request, for: .discard)
            let reason = try Self.reason(body)
            let id = try await extensionOfPath(request, member).id
            guard try await extensions.close(id, by: member.actor, why: reason) else {
                throw APIProblem(.extensionFinished, "the extension is finished: there is nothing to give up")
            }
            return APIAnswer(
                .ok,
                AdminShapes.renewalExtension.value(
                    of: ShownRenewalExtension(try await extensionOfPath(request, member))),
                log: ["extension": "\(id)"])
        }
        endpoint.pathSchemas = Self.extensionPath
        endpoint.body = Self.body("CloseExtensionRequest", [])
        endpoint.problems = [.notFound, .extensionFinished]
        endpoint.refusesFitting = Self.argued
        endpoint.isLogged = true
        return endpoint
    }

    private static let extensionPath = ["id": ValueSchema.string(.init(1, 20))]

    /// The extension that the path names.
    /// - Throws: ``APIProblem``, 404, where there is none, or it is another app's.
    private func extensionOfPath(
        _ request: AdminRequest, _ member: StaffMember, at instant: Timestamp? = nil
    ) async throws -> RenewalExtension {
        guard let number = Self.number(request.path["id"]),
            let found = try await extensions.find(number, at: instant),
            member.scope.sees(app: found.scope.bundleID)
        else { throw APIProblem(.notFound, "no such extension is known here") }
        return found
    }
}
