import APIKit
import AccountStore
import AppStorePayloads
import Base
import HTTPTypes
import Logging
import Postgres
import Staff

extension AdminHandlers {
    /// The members of the staff.
    var staffList: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/staff", "listStaff",
            "The members of the staff. Addresses are shortened, except for members that manage staff.", for: .staff,
            successes: [
                memberPages(isWhole: false, withRemoved: false).success("StaffPage", "A page of members.")
            ]
        ) { request in
            let member = try await member(request, for: .read)
            return try await memberPages(
                isWhole: manages(member), withRemoved: request.query["removed"] == "true"
            ).answer(request, self)
        }
        endpoint.query =
            AdminList<ShownMember>.query + [
                .init("removed", .boolean, "Whether to include removed members: the audit names them, too.")
            ]
        endpoint.refusesFitting = "after is next of a page before"
        return endpoint
    }

    /// Whether a member manages the staff.
    private func manages(_ member: StaffMember) -> Bool {
        rules.refusal(of: .manageStaff, by: member.role, of: member.scope) == nil
    }

    /// One of them.
    var staffShow: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/staff/{member}", "getStaffMember",
            "A member of the staff, also a removed one. The address is shortened and no token is listed, except for members that manage staff.",
            for: .staff, successes: [.init("The member.", Self.memberDetailShape.schema)]
        ) { request in
            let isWhole = manages(try await member(request, for: .read))
            guard let number = Self.number(request.path["member"]),
                let found = try await staff.member(number, withRemoved: true)
            else { throw Self.noMember }
            let hasTokens = isWhole && found.removedAt == nil
            let tokens = try await hasTokens ? staff.tokens(of: found.mail) : []
            return APIAnswer(
                .ok, Self.memberDetailShape.value(of: (ShownMember(member: found, isWhole: isWhole), tokens)))
        }
        endpoint.pathSchemas["member"] = .string(.init(1, 20))
        endpoint.problems = [.notFound]
        return endpoint
    }

    private func memberPages(isWhole: Bool, withRemoved: Bool) -> AdminList<ShownMember> {
        AdminList(
            name: "members", shape: Self.memberShape, subject: ("staff", "list"), cursorParts: 1,
            takes: { Int64($0.parts[0]) != nil }, openedTexts: { _ in 0 }
        ) { [staff] _, cursor, limit in
            let after = cursor.flatMap { Int64($0.parts[0]) } ?? 0
            let rest = try await staff.list(withRemoved: withRemoved).filter { $0.id > after }
            let page = rest.prefix(limit)
            return ListPage(
                page.map { ShownMember(member: $0, isWhole: isWhole) },
                next: rest.count > limit ? page.last.map { ListCursor(behind: ["\($0.id)"]) } : nil)
        }
    }

    private struct ShownMember: Sendable {
        let member: StaffMember
        let isWhole: Bool
    }

    private static let memberShape = Shape<ShownMember, Void>(
        "StaffMember",
        [
            .init("id", "The audit names the member staff: and this.") { $0.member.id },
            .init("mail") { $0.isWhole ? $0.member.mail : PersonalText.shortened($0.member.mail) },
            .init("role", Self.roles) { .string($0.member.role.rawValue) },
            .init("apps", "Null for all apps.") { $0.member.apps },
            .init("tokens", "How many of the member's tokens are valid.") { $0.member.validTokens },
            .init("passwordSetAt", "When the password for the pages was set; null without one.") {
                $0.member.passwordSetAt.map { Timestamp($0) }
            },
            .init("lastLoginAt", "By password, at the pages; null where that is not known.") {
                $0.member.lastLoginAt.map { Timestamp($0) }
            },
            .init("addedAt") { Timestamp($0.member.addedAt) }, .init("addedBy") { $0.member.addedBy },
            .init("removedAt") { $0.member.removedAt.map { Timestamp($0) } },
            .init("removedBy") { $0.member.removedBy },
        ])

    private static let memberDetailShape = memberShape.after([], named: "StaffMemberDetail") {
        (detail: (shown: ShownMember, tokens: [RecordedStaffToken])) in detail.shown
    }
    .changed(
        named: "StaffMemberDetail",
        adding: [
            .list("issued", issuedShape, about: "The tokens that were made for the member, the latest first.") {
                $0.tokens
            }
        ])

    private static let issuedShape = Shape<RecordedStaffToken, Void>(
        "IssuedStaffToken",
        [
            .init("id", "Its number: the token itself is shown once, when it is made.") { $0.id },
            .init("createdAt") { Timestamp($0.createdAt) }, .init("createdBy") { $0.createdBy },
            .init("expiresAt") { Timestamp($0.expiresAt) },
            .init("revokedAt") { $0.revokedAt.map { Timestamp($0) } }, .init("revokedBy") { $0.revokedBy },
        ])

    private static let roles = ValueSchema.named("StaffRole", .choice(StaffRole.allCases.map(\.rawValue)))

    // MARK: Changes

    /// A new member, or another role or other apps of one.
    var staffAdd: AdminEndpoint {
        var endpoint = managing(
            "/admin/staff", "addStaff", "Adds a member of the staff, or gives one another role or other apps.",
            Self.memberShape.schema,
            [
                .required("mail", .string(.init(3, 254)), "The member's e-mail address."),
                .required("role", Self.roles),
                .optional(
                    "apps", .array(.string(.init(1, 255)), least: 1, most: 100),
                    "The bundle ids of the apps; all apps where it is left out."),
            ]
        ) { body, actor, reason, _ in
            guard let mail = StaffMail(body.string("mail") ?? ""),
                let role = StaffRole(rawValue: body.string("role") ?? "")
            else { throw APIProblem(.invalidRequest, "mail takes one e-mail address") }
            let listed = body.strings("apps")
            if let listed {
                guard !listed.isEmpty, listed.allSatisfy({ (1...255).contains($0.unicodeScalars.count) }) else {
                    throw APIProblem(.invalidRequest, "apps takes 1 to 100 bundle ids; leave it out for all apps")
                }
                guard apps.isEmpty || apps.isSuperset(of: listed) else {
                    throw APIProblem(.invalidRequest, "STOREHOOK_APPS does not name one of the apps")
                }
            }
            let added = try await staff.add(mail.text, as: role, of: listed, by: actor, why: reason)
            return APIAnswer(
                .ok, Self.memberShape.value(of: ShownMember(member: added.member, isWhole: true)),
                log: ["member": "\(added.member.id)"])
        }
        endpoint.refusesFitting = Self.argued + ", mail is one e-mail address, and apps are those served here"
        return endpoint
    }

    /// The end of a membership.
    var staffRemove: AdminEndpoint {
        managing(
            "/admin/staff/{member}/remove", "removeStaff", "Removes a member of the staff, with all of their tokens.",
            Self.memberShape.schema, []
        ) { _, actor, reason, member in
            guard let member, let removed = try await staff.remove(member.mail, by: actor, why: reason) else {
                throw Self.noMember
            }
            return APIAnswer(
                .ok, Self.memberShape.value(of: ShownMember(member: removed, isWhole: true)),
                log: ["member": "\(removed.id)"])
        }
    }

    /// A token.
    var staffToken: AdminEndpoint {
        managing(
            "/admin/staff/{member}/tokens", "addStaffToken",
            "Makes a token with which a member of the staff calls this API. It is shown once.", Self.tokenShape.schema,
            [.optional("days", .integer(1...366), "For how many days it is valid; 90 by default.")]
        ) { body, actor, reason, member in
            let secret = StaffSecret()
            guard let member,
                let token = try await staff.addToken(
                    secret, for: member.mail, days: body.integer("days") ?? 90, by: actor, why: reason)
            else { throw Self.noMember }
            return APIAnswer(
                .ok, Self.tokenShape.value(of: (token, secret)),
                log: ["member": "\(member.id)", "number": "\(token.id)"])
        }
    }

    /// The end of a token.
    var staffTokenRevoke: AdminEndpoint {
        var endpoint = managing(
            "/admin/staff/{member}/tokens/{token}/revoke", "revokeStaffToken", "Revokes a token of a member's.",
            Self.revokedShape.schema, []
        ) { _, _, _, _ in throw Self.noMember }
        endpoint.pathSchemas["token"] = .string(.init(1, 20))
        endpoint.answer = { request in
            let (body, acting, subject) = try await managed(request)
            let reason = try Self.reason(body)
            guard let subject, let number = Self.number(request.path["token"]),
                let token = try await staff.revokeToken(number, of: subject.mail, by: acting.actor, why: reason)
            else { throw Self.noMember }
            return APIAnswer(.ok, Self.revokedShape.value(of: token), log: ["number": "\(token.id)"])
        }
        return endpoint
    }

    private func managing(
        _ path: String, _ name: String, _ summary: String, _ schema: ValueSchema, _ members: [ValueSchema.Property],
        _ change:
            @escaping @Sendable (_ body: JSONObject, _ actor: String, _ reason: String, _ member: StaffMember?)
            async throws -> APIAnswer
    ) -> AdminEndpoint {
        var endpoint = AdminEndpoint(
            .post, path, name, summary, for: .staff, successes: [.init("It is done, and on record.", schema)]
        ) { request in
            let (body, acting, subject) = try await managed(request)
            return try await change(body, acting.actor, try Self.reason(body), subject)
        }
        endpoint.body = Self.body(name.prefix(1).uppercased() + name.dropFirst() + "Request", members)
        if path.contains("{member}") {
            endpoint.pathSchemas["member"] = .string(.init(1, 20))
            endpoint.problems = [.notFound]
        }
        endpoint.refusesFitting = Self.argued
        endpoint.isLogged = true
        return endpoint
    }

    /// The body, the acting member, and the member that the path names.
    private func managed(
        _ request: AdminRequest
    ) async throws -> (body: JSONObject, acting: StaffMember, subject: StaffMember?) {
        let acting = try await member(request, for: .manageStaff)
        var subject: StaffMember?
        if let number = Self.number(request.path["member"]) { subject = try await staff.member(number) }
        return (try Self.body(request), acting, subject)
    }

    /// The number in a path; nil where it has none.
    static func number(_ text: String?) -> Int64? {
        text.flatMap { text in text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil }
    }

    private static let noMember = APIProblem(.notFound, "no member, or no token of theirs, has this number")

    private static let tokenShape = Shape<(token: RecordedStaffToken, secret: StaffSecret), Void>(
        "StaffToken",
        [
            .init("id", "Its number.") { $0.token.id }, .init("member") { $0.token.memberID },
            .init("expiresAt") { Timestamp($0.token.expiresAt) },
            .init("token", "Shown once: only its digest is stored.") { $0.secret.text },
        ])

    private static let revokedShape = Shape<RecordedStaffToken, Void>(
        "RevokedStaffToken",
        [
            .init("id") { $0.id }, .init("member") { $0.memberID },
            .init("expiresAt") { Timestamp($0.expiresAt) },
            .init("revokedAt") { $0.revokedAt.map { Timestamp($0) } }, .init("revokedBy") { $0.revokedBy },
        ])
}
