package import Base
package import EvidenceStore
import Postgres

extension CommandAnswer {
    /// Jobs, a page or several.
    package init(_ page: ListPage<Job>) { self.init(page, "jobs", Self.job) }

    /// One job, and what became of its first letters.
    package init(_ job: Job, _ items: [JobItem]) {
        var lines: [(String, String?)] = [
            ("job", "\(job.id)"), ("act", job.act.rawValue), ("letters that match", job.filter.text),
            ("asked for", "\(Timestamp(job.createdAt)) by \(job.actor)"), ("why", job.why), ("state", job.standing),
            (
                "settled",
                "\(job.done) of \(job.total)" + (job.skipped == 0 ? "" : ", \(job.skipped) were settled before")
            ),
        ]
        if let at = job.stoppedAt {
            lines.append(
                ("stopped", "\(Timestamp(at)) by \(job.stoppedBy ?? "-")" + (job.stoppedWhy.map { ": \($0)" } ?? "")))
        }
        lines.append(("failed", job.error))
        lines.append(("report", job.report?.text))
        var text = Self.lines(lines)
        if !items.isEmpty { text += "\n\n" + Self.item.table(of: items) }
        self.init(
            Self.job.value(of: job).adding("items", Self.item.values(of: items)), text: text)
    }

    private static let job = CommandShape<Job>([
        .init("id", column: "ID", \.id), .init("act", column: "ACT", \.act.rawValue),
        .init("filter") { JSONValue.written($0.filter.bytes) }, .init("apps", \.apps), .init("up_to", \.upTo),
        .init("per_second", \.perSecond), .init("total", column: "LETTERS", \.total),
        .init("done", column: "DONE") { $0.isCounted ? $0.done : nil },
        .init("skipped", column: "SKIPPED") { $0.isCounted ? $0.skipped : nil }, .init("state", \.state.rawValue),
        .column("STATE") { $0.standing }, .init("error", \.error),
        .init("report") { JSONValue.written($0.report?.bytes) }, .init("actor", column: "BY", \.actor),
        .init("why", column: "WHY", \.why), .init("created_at", column: "ASKED FOR", \.createdAt),
        .init("begun_at", \.begunAt), .init("ended_at", column: "ENDED", \.endedAt), .init("stopped_at", \.stoppedAt),
        .init("stopped_by", \.stoppedBy), .init("stopped_why", \.stoppedWhy),
    ])

    private static let item = CommandShape<JobItem>([
        .init("letter", column: "LETTER", \.letterID), .init("outcome", column: "OUTCOME", \.outcome),
        .init("ended_at", column: "ENDED", \.endedAt), .init("reason", column: "REASON", \.reason),
        .init("type", column: "TYPE", \.type), .init("resolution", \.resolution),
    ])
}

extension Job {
    /// How far it is, for people: a worker notices with its next step that it was stopped.
    fileprivate var standing: String { stoppedAt != nil && !hasEnded ? "stopping" : state.rawValue }
}
