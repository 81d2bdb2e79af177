import AppStorePayloads
import Base

/// What the checks of the database find.
enum HealthPages {
    static var pages: [Page] { [.get("/health", "health", in: .service) { .page(try await content($0)) }] }

    private static func content(_ call: PageCall) async throws -> PageContent {
        let speaker = call.speaker
        let health = try await call.ask("getHealth")
        let isWell = health.bool("ok") == true
        let table = PageTable(
            speaker.word(of: "list", "health"),
            [.text(speaker.word("check")), .text(speaker.word("status")), .text(speaker.word("message"))],
            health.objects("findings").map { finding in
                [finding.words("check"), finding.standing("status", of: "health_status"), finding.words("message")]
            }, empty: speaker.word("nothing_yet"))
        return PageContent(
            speaker.word(of: "list", "health"),
            [
                SubPages.service("health", call),
                .note(speaker.word(isWell ? "health_good" : "health_bad"), isWell ? .good : .bad),
                .facts(PageFacts([(speaker.word("checked_at"), health.at("checkedAt"))])), .table(table),
            ], commands: [CommandLine.text(["doctor"])])
    }
}
