import APIKit
import AccountStore
import AppStorePayloads
import Base
import Staff

/// Who the staff is: members and their roles, and for admins what changes them.
enum StaffPages {
    static var pages: [Page] {
        [
            .get("/staff", "staff", in: .staff) { .page(try await list($0)) },
            .get("/staff/{member}", "staff_member", in: .staff) { .page(try await StaffPage($0).content()) },
            .post("/staff", "staff_add", in: .staff) { try await add($0) },
            .post("/staff/remove", "staff_remove", in: .staff) { try await remove($0) },
            .post("/staff/tokens", "staff_token", in: .staff) { try await makeToken($0) },
            .post("/staff/tokens/revoke", "staff_token_revoke", in: .staff) { try await revokeToken($0) },
        ]
    }

    /// - Parameters:
    ///   - problem: why something was not done.
    ///   - blocks: what was done, before everything else.
    private static func list(
        _ call: PageCall, _ problem: APIProblem? = nil, after first: [Block] = []
    ) async throws -> PageContent {
        let speaker = call.speaker
        let isWithRemoved = call.value("removed") == "true"
        let page = try await call.ask(
            "listStaff", ["removed": isWithRemoved ? "true" : nil, "after": call.value("after")])
        let members = page.objects("members")
        let title = speaker.word(of: "section", Section.staff.rawValue)
        var table = PageTable(
            title,
            [
                .number(speaker.word("number")), .text(speaker.word("mail")), .text(speaker.word("role")),
                .text(speaker.word("apps")), .text(speaker.word("password_set")), .text(speaker.word("last_login")),
                .number(speaker.word("tokens")), .text(speaker.word("added")), .text(speaker.word("by")),
                .text(speaker.word("removed")),
            ], members.map { row(of: $0, speaker) }, empty: speaker.word("no_staff"))
        table.next = page.string("next").map {
            Place("staff", query: ["removed": call.value("removed"), "after": $0])
        }
        var blocks = problem.map { [Block.note(ErrorPage.sentence($0, speaker), .bad)] } ?? []
        blocks += first
        if let done = call.value("done"), let word = speaker.words.text("staff_done.\(done)", in: speaker.language) {
            blocks.append(.note(word, .good))
        }
        blocks.append(
            .links([
                PageLink(speaker.word("present"), Place("staff"), isCurrent: !isWithRemoved),
                PageLink(
                    speaker.word("with_removed"), Place("staff", query: ["removed": "true"]), isCurrent: isWithRemoved),
            ]))
        blocks.append(.table(table))
        if try manages(call) {
            blocks += forms(members.filter { $0.string("removedAt") == nil }, call).map { Block.form($0) }
        }
        var content = PageContent(
            title, blocks, commands: [CommandLine.text(["staff", "list"] + (isWithRemoved ? ["--removed"] : []))])
        if let problem { content.status = problem.code.status }
        return content
    }

    /// Whether the reader manages the staff.
    static func manages(_ call: PageCall) throws -> Bool {
        guard call.may(.manageStaff) else { return false }
        return try call.member.apps == nil
    }

    /// The apps of a member.
    static func apps(of member: JSONObject, _ speaker: Speaker) -> Shown {
        guard let apps = member.strings("apps") else { return .text(speaker.word("all_apps")) }
        return .all(apps.map { .text($0) })
    }

    private static func row(of member: JSONObject, _ speaker: Speaker) -> [Shown] {
        let number = member.integer("id")
        return [
            Shown.count(number).leading(to: number.map { Place("staff", "\($0)") }), member.words("mail"),
            member.standing("role", of: "role"), apps(of: member, speaker), member.at("passwordSetAt"),
            member.at("lastLoginAt"), member.count("tokens"), member.at("addedAt"), member.words("addedBy"),
            member.at("removedAt"),
        ]
    }

    // MARK: Changes

    private static func forms(_ members: [JSONObject], _ call: PageCall) -> [PageForm] {
        let speaker = call.speaker
        let choices = members.compactMap { member -> PageForm.Field.Choice? in
            guard let id = member.integer("id") else { return nil }
            return PageForm.Field.Choice("\(id)", member.string("mail") ?? "\(id)")
        }
        let member = PageForm.Field("member", speaker.word("member"), .choice(choices), call.sent("member"))
        let mail = PageForm.Field(
            "mail", speaker.word("mail"), .line(most: 254), call.sent("mail"), isRequired: true)
        let token = PageForm.Field(
            "token", speaker.word("token_number"), .number(1...Int64.max), call.sent("token"), isRequired: true)
        let days = PageForm.Field("days", speaker.word("days"), .number(1...366), call.sent("days") ?? "90")
        return [
            form("add", Place("staff"), [mail] + standing(call.sent("role"), call.sent("apps"), speaker), speaker),
            form("token", Place("staff", "tokens"), [member, days], speaker),
            form("revoke", Place("staff", "tokens", "revoke"), [member, token], speaker, isDangerous: true),
            form("remove", Place("staff", "remove"), [member], speaker, isDangerous: true),
        ]
    }

    /// The fields of what a member may do, and for which apps.
    static func standing(_ role: String?, _ apps: String?, _ speaker: Speaker) -> [PageForm.Field] {
        [
            .states(
                "role", speaker.word("role"), "role", StaffRole.allCases.map(\.rawValue), role, speaker,
                isRequired: true),
            PageForm.Field(
                "apps", speaker.word("apps"), .line(most: 10_000), apps, hint: speaker.word("apps_hint")),
        ]
    }

    /// A form that changes the staff, with the reason.
    static func form(
        _ what: String, _ place: Place, _ fields: [PageForm.Field], _ speaker: Speaker, hidden: [String: String] = [:],
        isDangerous: Bool = false
    ) -> PageForm {
        .act(
            speaker.word(of: "staff_act", what), place,
            fields + [PageForm.Field("reason", speaker.word("reason"), .line(most: 1000), isRequired: true)],
            speaker.word(of: "staff_act", what), about: speaker.word(of: "staff_about", what),
            hidden: hidden.merging(["once": SentForms.number()]) { own, _ in own }, isDangerous: isDangerous)
    }

    private static func add(_ call: PageCall) async throws -> PageOutcome {
        try await doing(call) {
            let apps = call.sent("apps").map { text in
                JSONValue.array(
                    text.split(separator: ",").map { .string(String($0.filter { !$0.isWhitespace })) })
            }
            _ = try await call.send(
                "addStaff",
                [
                    "mail": .string(call.sent("mail") ?? ""), "role": .string(call.sent("role") ?? ""), "apps": apps,
                    "reason": .string(call.sent("reason") ?? ""),
                ])
            return .redirect(Place("staff", query: ["done": "add"]))
        }
    }

    private static func remove(_ call: PageCall) async throws -> PageOutcome {
        try await doing(call) {
            _ = try await call.send(
                "removeStaff", path: ["member": call.sent("member") ?? ""],
                ["reason": .string(call.sent("reason") ?? "")])
            return .redirect(Place("staff", query: ["done": "remove"]))
        }
    }

    /// A token is shown on the answer to the form alone, and so once.
    private static func makeToken(_ call: PageCall) async throws -> PageOutcome {
        try await doing(call) {
            let made = try await call.send(
                "addStaffToken", path: ["member": call.sent("member") ?? ""],
                ["days": .integer(try Number.sent("days", call)), "reason": .string(call.sent("reason") ?? "")])
            let speaker = call.speaker
            let shown: [Block] = [
                .note(speaker.word("token_once"), .warning),
                .facts(
                    PageFacts([
                        (speaker.word("token"), .code(made.string("token") ?? "")),
                        (speaker.word("token_number"), made.count("id")),
                        (speaker.word("expires"), made.at("expiresAt")),
                    ])),
            ]
            // It is shown once: also where the rest of the page cannot be read now.
            let page = try? await list(call, after: shown)
            return .page(page ?? PageContent(speaker.word(of: "section", Section.staff.rawValue), shown))
        }
    }

    private static func revokeToken(_ call: PageCall) async throws -> PageOutcome {
        try await doing(call) {
            _ = try await call.send(
                "revokeStaffToken",
                path: ["member": call.sent("member") ?? "", "token": call.sent("token") ?? ""],
                ["reason": .string(call.sent("reason") ?? "")])
            return .redirect(Place("staff", query: ["done": "revoke"]))
        }
    }

    /// What cannot be done is shown beside the forms.
    private static func doing(
        _ call: PageCall, _ body: () async throws -> PageOutcome
    ) async throws -> PageOutcome {
        do {
            return try await body()
        } catch let problem as APIProblem where problem.isOfForm {
            return .page(try await list(call, problem))
        }
    }
}
