import APIKit
import AccountStore
import Accounts
import AppStorePayloads
import Base
import HTTPTypes
import Logging
import Operations
import Staff

extension AdminHandlers {
    /// The longest body that holds a catalog, in bytes: its file may have half of it, since JSON escapes line breaks and quotation marks.
    static let longestCatalog = 2 << 20
    /// How long accounts are compared.
    private static let diffPatience = Duration.seconds(20)

    /// The current catalog.
    var catalogShow: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/catalog", "getCatalog",
            "The catalog that is current, as it was applied; for staff of all its apps.", for: .staff,
            successes: [.init("The catalog.", AdminShapes.catalog.schema)]
        ) { request in
            let member = try await member(request, for: .read)
            guard try await hasAccounts(member) else { throw try await problem(.allApps, request, member) }
            guard let applied = try await accounts.applied(at: try Self.instant("at", request)) else {
                throw ActRefusal.noCatalog.problem
            }
            return APIAnswer(.ok, AdminShapes.catalog.value(of: applied))
        }
        endpoint.query = [
            Self.at(
                "The one that was current at this instant, such as 2026-01-31T12:00:00Z, if one had been applied; now by default. preparing is null of a past."
            )
        ]
        endpoint.problems = [.noCatalog]
        endpoint.refusesFitting = "at is an instant"
        return endpoint
    }

    /// What a catalog would change.
    var catalogDiff: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .post, "/admin/catalog/diff", "diffCatalog",
            "What a catalog says otherwise than the current one, and what it would change for accounts. Changes nothing. One at a time.",
            for: .staff, successes: [.init("The differences.", AdminShapes.catalogDiff.schema)]
        ) { try await answerDiff($0) }
        endpoint.query = Opening.query
        endpoint.body = Self.catalogBody("DiffCatalogRequest", [])
        endpoint.problems = [.catalogUnusable]
        endpoint.refusesFitting = Self.argued
        return endpoint
    }

    private func answerDiff(_ request: AdminRequest) async throws -> APIAnswer {
        let body = try Self.body(request)
        let member = try await member(request, for: .applyCatalog)
        let catalog = try Self.catalog(body)
        let opening = try await Opening(request, isExport: false, of: ("catalog", "diff"), self)
        let slot = try catalogs.slot(of: member.actor)
        let contents = try await contents(of: catalog)
        // Where nothing is said otherwise, nothing becomes of accounts.
        let diff =
            try await contents.changes.isEmpty
            ? AccountStore.CatalogDiff() : accounts.diff(catalog, until: ContinuousClock.now + Self.diffPatience)
        let shown = ShownCatalogDiff(diff, contents, opening)
        try await opening.note(shown.openedTexts)
        return withExtendedLifetime(slot) { APIAnswer(.ok, AdminShapes.catalogDiff.value(of: shown)) }
    }

    /// Another catalog.
    var catalogApply: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .post, "/admin/catalog/apply", "applyCatalog",
            "Makes a catalog current for all accounts, at one instant. It is done also where the answer is not waited for: all accounts are gone through, some thousands a second. One at a time.",
            for: .staff, successes: [.init("It is current, and on record.", AdminShapes.appliedCatalog.schema)]
        ) { try await answerApply($0) }
        let reason = ValueSchema.Property.required("reason", .string(.init(1, 1000)), "Why, for the record.")
        endpoint.body = Self.catalogBody("ApplyCatalogRequest", [reason])
        endpoint.problems = [.catalogUnusable, .catalogSuperseded, .catalogHeldUp]
        endpoint.refusesFitting = Self.argued
        endpoint.isLogged = true
        return endpoint
    }

    private func answerApply(_ request: AdminRequest) async throws -> APIAnswer {
        let body = try Self.body(request)
        let member = try await member(request, for: .applyCatalog)
        let reason = try Self.reason(body)
        let (catalog, source) = (try Self.catalog(body), body.string("catalog") ?? "")
        let slot = try catalogs.slot(of: member.actor)
        // Unlike this request it does not end with the connection.
        let applying = Task { [accounts] () async throws -> AppliedCatalogAnswer in
            defer { withExtendedLifetime(slot) {} }
            let contents = try await contents(of: catalog)
            if let version = try await accounts.standing(as: catalog) {
                try await accounts.listProducts()
                return AppliedCatalogAnswer(
                    version: version, isNew: false, accounts: nil, moves: [:], contents: contents)
            }
            let applied = try await accounts.apply(source, by: member.actor, why: reason)
            return AppliedCatalogAnswer(
                version: applied.version, isNew: true, accounts: applied.accounts, moves: applied.moves,
                contents: contents)
        }
        do {
            let applied = try await applying.value
            return APIAnswer(
                .ok, AdminShapes.appliedCatalog.value(of: applied), log: ["catalog": "\(applied.version)"])
        } catch let refusal as ApplyRefusal { throw refusal.problem }
    }

    /// What a catalog says otherwise than the current one, leaves out, and names in vain.
    private func contents(of catalog: Catalog) async throws -> CatalogContents {
        var current: Catalog?
        // A newer release applied it: all that is said is new to this one.
        do { current = try await accounts.current()?.catalog } catch is UnreadableCatalog {}
        return CatalogContents(
            catalog, after: current, unsold: try await accounts.unsold(under: catalog), apps: apps.isEmpty ? nil : apps)
    }

    /// The catalog in a body.
    /// - Throws: ``APIProblem``, 422 with all findings, for what cannot be used.
    private static func catalog(_ body: JSONObject) throws(APIProblem) -> Catalog {
        let (catalog, findings) = Catalog.check(yaml: body.string("catalog") ?? "")
        guard let catalog else {
            throw APIProblem(
                .catalogUnusable, "the file cannot be used: findings say where, and what to do",
                members: [.init("findings", AdminShapes.catalogFinding.values(of: findings))])
        }
        return catalog
    }

    private static func catalogBody(_ name: String, _ members: [ValueSchema.Property]) -> APIBody {
        let catalog = ValueSchema.Property.required(
            "catalog", .string(.init(1, 1 << 20)), "The file, in YAML: 1 MiB at most.")
        return APIBody(
            .named(name, .strict(StrictObject(what: "a catalog's file", members: [catalog] + members))),
            most: longestCatalog)
    }
}
