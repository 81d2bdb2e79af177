import APIKit
import AccountStore
import AppStorePayloads
import Base
import HTTPTypes
import Staff

/// The catalog: the current one, what another file would change, and its application in a second step.
enum CatalogPages {
    static var pages: [Page] {
        [
            .get("/catalog", "catalog", in: .service) { .page(try await content($0)) },
            Page.post("/catalog", "catalog_diff", in: .service) { try await diff($0) }.takingFiles(),
            Page.post("/catalog/apply", "catalog_apply", in: .service) { try await apply($0) }.takingFiles(),
        ]
    }

    /// The page.
    /// - Parameters:
    ///   - blocks: what a file came to, above the current one.
    ///   - file: the text that was sent.
    private static func content(
        _ call: PageCall, after blocks: [Block] = [], file: String? = nil
    ) async throws -> PageContent {
        let speaker = call.speaker
        let catalog: JSONObject?
        do {
            catalog = try await call.ask("getCatalog")
        } catch let problem as APIProblem where problem.code.status == .conflict {
            // None was applied yet.
            catalog = nil
        }
        var all: [Block] = [SubPages.service("catalog", call)]
        if let done = call.value("done"), let version = Int64(done) {
            all.append(.note(speaker.word("catalog_applied", ["version": "\(version)"]), .good))
        }
        all += blocks
        if let catalog {
            if let preparing = catalog.integer("preparing") {
                all.append(.note(speaker.word("catalog_preparing", ["version": "\(preparing)"]), .warning))
            }
            all.append(
                .facts(
                    PageFacts([
                        (speaker.word("version"), catalog.count("version")),
                        (speaker.word("applied_at"), catalog.at("appliedAt")),
                        (speaker.word("by"), catalog.words("appliedBy")),
                    ])))
            if let source = catalog.string("source") { all.append(.code(speaker.word("catalog_file"), source)) }
        }
        if call.may(.applyCatalog), try call.member.apps == nil {
            all.append(
                .form(
                    .act(
                        speaker.word("catalog_compare"), Place("catalog"),
                        [
                            PageForm.Field(
                                "catalog", speaker.word("catalog_file"), .file, file ?? catalog?.string("source"),
                                isRequired: true)
                        ], speaker.word("catalog_compare"), about: speaker.word("catalog_compare_about"))))
        }
        return PageContent(
            speaker.word(of: "list", "catalog"), all,
            commands: [CommandLine.text(["catalog", "show"], [("at", speaker.instant?.description)])])
    }

    /// The file that was sent. Browsers end its lines as they like.
    private static func sentFile(_ call: PageCall) -> String {
        (call.form["catalog"] ?? "").replacing("\r\n", with: "\n")
    }

    // MARK: Another one

    private static func diff(_ call: PageCall) async throws -> PageOutcome {
        let (speaker, file) = (call.speaker, sentFile(call))
        do {
            let diff = try await call.send("diffCatalog", ["catalog": .string(file)])
            var blocks = shown(diff, speaker)
            if !diff.objects("changes").isEmpty {
                blocks.append(
                    .form(
                        .act(
                            speaker.word("catalog_apply"), Place("catalog", "apply"), Reason.fields(call),
                            speaker.word("catalog_apply"), about: speaker.word("catalog_apply_about"),
                            hidden: ["catalog": file, "once": SentForms.number()], isDangerous: true,
                            cancel: Place("catalog"))))
            }
            return .page(try await content(call, after: blocks, file: file))
        } catch let problem as APIProblem where problem.isOfForm {
            return .page(try await refused(problem, call, file))
        }
    }

    private static func apply(_ call: PageCall) async throws -> PageOutcome {
        let file = sentFile(call)
        do {
            let applied = try await call.send(
                "applyCatalog", ["catalog": .string(file), "reason": .string(try Reason.sent(call))])
            return .redirect(Place("catalog", query: ["done": "\(applied.integer("version") ?? 0)"]))
        } catch let problem as APIProblem where problem.isOfForm {
            return .page(try await refused(problem, call, file))
        }
    }

    /// Why a file was not compared or applied, with each finding and its place in the file.
    private static func refused(_ problem: APIProblem, _ call: PageCall, _ file: String) async throws -> PageContent {
        let speaker = call.speaker
        var blocks: [Block] = [.note(ErrorPage.sentence(problem, speaker), .bad)]
        let findings = (try? JSONDocument(JSONValue.object(problem.members).bytes).object)?.objects("findings") ?? []
        if !findings.isEmpty {
            blocks.append(
                .table(
                    PageTable(
                        speaker.word("findings"),
                        [
                            .number(speaker.word("line")), .number(speaker.word("column_number")),
                            .text(speaker.word("message")), .text(speaker.word("value")),
                        ],
                        findings.map { finding in
                            [
                                finding.count("line"), finding.count("column"), finding.words("message"),
                                finding.words("value"),
                            ]
                        },
                        empty: speaker.word("nothing_yet"))))
        }
        var content = try await content(call, after: blocks, file: file)
        content.status = problem.code.status
        return content
    }

    private static func shown(_ diff: JSONObject, _ speaker: Speaker) -> [Block] {
        var blocks: [Block] = []
        if diff.bool("complete") == false { blocks.append(.note(speaker.word("catalog_incomplete"), .warning)) }
        blocks.append(
            .facts(
                PageFacts(
                    speaker.word("will_change"), style: .cards,
                    [
                        (speaker.word("accounts_compared"), diff.count("accounts")),
                        (speaker.word("accounts_changed"), diff.count("changed")),
                    ])))
        let changes = PageTable(
            speaker.word("catalog_changes"),
            [
                .text(speaker.word("catalog_part")), .text(speaker.word("what")), .text(speaker.word("member_changed")),
                .text(speaker.word("before")), .text(speaker.word("after")),
            ],
            diff.objects("changes").map { change in
                [
                    change.words("part"), change.id("id"), change.words("member"), change.words("before"),
                    change.words("after"),
                ]
            }, empty: speaker.word("nothing_changes"))
        let moves = PageTable(
            speaker.word("accounts_changed"),
            [
                .text(speaker.word("environment")), .text(speaker.word("before")), .text(speaker.word("after")),
                .number(speaker.word("accounts")), .text(speaker.word("examples")),
            ], diff.objects("moves").map { row(ofMove: $0) }, empty: speaker.word("nothing_changes"))
        blocks += [.table(changes), .table(moves)]
        let lacks = diff.objects("unsoldProducts").compactMap { $0.string("productId") }
        if !lacks.isEmpty {
            let names = ["products": lacks.joined(separator: ", ")]
            blocks.append(.note(speaker.word("catalog_lacks", names), .warning))
        }
        let unserved = diff.strings("unservedApps") ?? []
        if !unserved.isEmpty {
            let names = ["apps": unserved.joined(separator: ", ")]
            blocks.append(.note(speaker.word("catalog_unserved", names), .warning))
        }
        return blocks
    }

    private static func row(ofMove move: JSONObject) -> [Shown] {
        let examples = move.objects("examples").map { example -> Shown in
            let token = example.string("appAccountToken")
            let name = example.string("account") ?? token.map { String($0.prefix(8)) }
            return Shown.words(name).leading(to: token.map { Place("customers", $0) })
        }
        return [
            move.standing("environment", of: "environment"), move.words("before"), move.words("after"),
            move.count("accounts"), .all(examples),
        ]
    }
}
