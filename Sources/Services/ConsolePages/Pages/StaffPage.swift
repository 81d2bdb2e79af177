import AppStorePayloads
import Base

/// One member of the staff: what they may do, how they come in, and for admins what changes that.
struct StaffPage: Sendable {
    private let call: PageCall
    private let speaker: Speaker
    private let id: String

    init(_ call: PageCall) {
        self.call = call
        speaker = call.speaker
        id = call.part("member")
    }

    /// The page.
    func content() async throws -> PageContent {
        let member = try await call.ask("getStaffMember", path: ["member": id])
        let mail = member.string("mail") ?? ""
        var blocks: [Block] = [
            .facts(facts(member)),
            .links([PageLink(speaker.word("staff_acts"), Place("audit", query: ["actor": "staff:\(id)"]))]),
        ]
        let manages = try StaffPages.manages(call)
        if manages, member.string("removedAt") == nil {
            let issued = member.objects("issued")
            blocks.append(.table(tokens(issued)))
            if member.string("passwordSetAt") == nil { blocks.append(.text(speaker.word("password_by_command"))) }
            blocks += forms(member, mail, issued).map { Block.form($0) }
        }
        var commands = [CommandLine.text(["staff", "list"])]
        if manages {
            commands.append(CommandLine.text(["staff", "password", mail]))
            commands.append(CommandLine.text(["staff", "token", mail, "--list"]))
        }
        return PageContent("\(speaker.word("member")) \(id)", blocks, commands: commands)
    }

    private func facts(_ member: JSONObject) -> PageFacts {
        var facts: [(label: String, value: Shown)] = []
        func add(_ word: String, _ value: Shown) { facts.append((speaker.word(word), value)) }
        add("mail", member.words("mail"))
        add("role", member.standing("role", of: "role"))
        add("apps", StaffPages.apps(of: member, speaker))
        add("password_set", member.at("passwordSetAt"))
        add("last_login", member.at("lastLoginAt"))
        add("tokens", member.count("tokens"))
        add("added", member.at("addedAt"))
        add("by", member.words("addedBy"))
        add("removed", .all([member.at("removedAt"), member.words("removedBy")].filter { $0 != .nothing }))
        return PageFacts(facts)
    }

    private func tokens(_ issued: [JSONObject]) -> PageTable {
        PageTable(
            speaker.word("tokens"),
            [
                .number(speaker.word("token_number")), .text(speaker.word("created")), .text(speaker.word("by")),
                .text(speaker.word("valid_until")), .text(speaker.word("revoked_at")),
            ],
            issued.map { token in
                [
                    token.count("id"), token.at("createdAt"), token.words("createdBy"), token.at("expiresAt"),
                    .all([token.at("revokedAt"), token.words("revokedBy")].filter { $0 != .nothing }),
                ]
            }, empty: speaker.word("no_tokens"))
    }

    private func forms(_ member: JSONObject, _ mail: String, _ issued: [JSONObject]) -> [PageForm] {
        let choices = issued.filter { $0.string("revokedAt") == nil }.compactMap { token in
            token.integer("id").map { PageForm.Field.Choice("\($0)", "\($0)") }
        }
        var forms = [
            StaffPages.form(
                "change", Place("staff"),
                StaffPages.standing(
                    member.string("role"), member.strings("apps")?.joined(separator: ", "), speaker),
                speaker, hidden: ["mail": mail]),
            StaffPages.form(
                "token", Place("staff", "tokens"),
                [PageForm.Field("days", speaker.word("days"), .number(1...366), "90")], speaker,
                hidden: ["member": id]),
        ]
        if !choices.isEmpty {
            let token = PageForm.Field("token", speaker.word("token_number"), .choice(choices))
            forms.append(
                StaffPages.form(
                    "revoke", Place("staff", "tokens", "revoke"), [token], speaker, hidden: ["member": id],
                    isDangerous: true))
        }
        forms.append(
            StaffPages.form(
                "remove", Place("staff", "remove"), [], speaker, hidden: ["member": id], isDangerous: true))
        return forms
    }
}
