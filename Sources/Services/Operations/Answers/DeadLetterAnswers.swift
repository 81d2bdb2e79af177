import AppStorePayloads
import Base
package import EvidenceStore
import FoundationEssentials
import Postgres
import Subscriptions

extension CommandAnswer {
    /// Open dead letters: those that were asked for, and how many there are of each reason.
    /// - Parameters:
    ///   - letters: those to show, the oldest first.
    ///   - counts: of all that the same filter names, also of those that are not shown, the most frequent reason first; nil where they were
    ///     not counted.
    package init(_ letters: [DeadLetter], counts: [(reason: String, count: Int64)]?) {
        guard let counts else {
            self.init(
                Self.letter.values(of: letters),
                text: letters.isEmpty ? "no open dead letters were found" : Self.letter.table(of: letters))
            return
        }
        let total = counts.reduce(0) { $0 + $1.count }
        let reasons = counts.map { "\($0.count) \($0.reason)" }.joined(separator: ", ")
        let rest = total > Int64(letters.count) ? "; shown are the oldest \(letters.count), --limit shows more" : ""
        self.init(
            Self.letter.values(of: letters),
            text: letters.isEmpty
                ? "no open dead letters" : "\(Self.letter.table(of: letters))\n\n\(total) open: \(reasons)\(rest)")
    }

    /// One dead letter with its content. The content of an unverified letter is not authenticated.
    /// - Parameter body: what was posted; nil where that is gone.
    package init(_ letter: DeadLetter, _ body: OpenedBody?) {
        let segments = ((try? body?.get()) ?? []).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let texts = segments.prefix(2).map { segment in
            Base64.url.decode(Array(segment)).map { String(decoding: $0, as: UTF8.self) }
        }
        let (header, payload) = (texts.first ?? nil, texts.dropFirst().first ?? nil)
        let size =
            switch body {
            case .success(let body): "\(body.count)"
            case .failure(let why): "\(why)"
            case nil: "gone"
            }
        var rows: [(String, String?)] = [
            ("dead letter", "\(letter.id)"), ("reason", "\(letter.reason) (\(letter.category.rawValue))"),
            ("message", letter.message), ("kind", letter.kind.rawValue), ("source", letter.source.rawValue),
            ("notification", letter.notificationUUID?.uuidString.lowercased()),
            ("type", [letter.type, letter.subtype].compactMap(\.self).joined(separator: " ")),
            ("app", letter.bundleID),
            ("attempts", "\(letter.attempts)"), ("received", "\(Timestamp(letter.receivedAt))"),
            ("dead since", "\(Timestamp(letter.deadAt))"), ("resolution", letter.resolution.rawValue),
        ]
        if let by = letter.resolvedBy, let at = letter.resolvedAt {
            rows.append(("resolved", "\(Timestamp(at)) by \(by)" + (letter.resolvedWhy.map { ": \($0)" } ?? "")))
        }
        rows += [("stored bytes", size), ("payload", payload ?? "cannot be decoded")]
        var members: [JSONValue.Member] = [.init("letter", Self.letter.value(of: letter))]
        if let header { members.append(.init("header", .string(header))) }
        if let payload { members.append(.init("payload", .string(payload))) }
        self.init(.object(members), text: Self.lines(rows.filter { $0.1?.isEmpty == false }, width: 14))
    }

    private static let letter = CommandShape<DeadLetter>([
        .init("id", column: "ID", \.id), .init("outbox_id", \.outboxID), .init("kind", \.kind.rawValue),
        .init("source", \.source.rawValue), .init("dead_at", column: "DEAD SINCE", \.deadAt),
        .init("category", \.category.rawValue), .init("reason", column: "REASON", \.reason), .init("type", \.type),
        .column("TYPE") { $0.type ?? ($0.kind == .notification ? nil : $0.kind.words) }, .init("subtype", \.subtype),
        .init("attempts", column: "TRIES", \.attempts),
        .init("notification_uuid", column: "NOTIFICATION", \.notificationUUID),
        .init("message", column: "MESSAGE", \.message), .init("received_at", \.receivedAt),
        .init("resolution", \.resolution.rawValue), .init("resolved_at", \.resolvedAt),
        .init("resolved_by", \.resolvedBy), .init("resolved_why", \.resolvedWhy), .init("app", \.bundleID),
        .init("job", \.jobID),
    ])
}
