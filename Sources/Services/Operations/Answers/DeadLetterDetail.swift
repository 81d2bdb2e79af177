import AppStorePayloads
package import EvidenceStore

/// One dead letter with what it says, as people and scripts see it. Of an unverified one nobody vouches for that.
package struct DeadLetterDetail: Encodable, Sendable {
    private enum CodingKeys: CodingKey { case letter, header, payload }

    private let letter: DeadLetterAnswer
    private let header: String?
    private let payload: String?
    private let size: String

    /// An answer, with what was posted; nil where that is gone.
    package init(_ letter: DeadLetter, _ body: OpenedBody?) {
        self.letter = DeadLetterAnswer(letter)
        size =
            switch body {
            case .success(let body): "\(body.count)"
            case .failure(let why): "\(why)"
            case nil: "gone"
            }
        let segments = ((try? body?.get()) ?? []).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let texts = segments.prefix(2).map { segment in
            Base64.url.decode(Array(segment)).map { String(decoding: $0, as: UTF8.self) }
        }
        header = texts.first ?? nil
        payload = texts.dropFirst().first ?? nil
    }

    /// For people.
    package var text: String {
        var rows: [(String, String?)] = [
            ("dead letter", "\(letter.id)"), ("reason", "\(letter.reason) (\(letter.category))"),
            ("message", letter.message), ("kind", letter.kind),
            ("source", letter.source), ("notification", letter.notificationUuid),
            ("type", [letter.type, letter.subtype].compactMap(\.self).joined(separator: " ")),
            ("attempts", "\(letter.attempts)"), ("received", letter.receivedAt), ("dead since", letter.deadAt),
            ("resolution", letter.resolution),
        ]
        if let by = letter.resolvedBy, let at = letter.resolvedAt {
            rows.append(("resolved", "\(at) by \(by)" + (letter.resolvedWhy.map { ": \($0)" } ?? "")))
        }
        rows.append(("stored bytes", size))
        rows.append(("payload", payload ?? "cannot be decoded"))
        return rows.filter { $0.1?.isEmpty == false }
            .map { name, value in name + String(repeating: " ", count: 14 - name.count) + (value ?? "") }
            .joined(separator: "\n")
    }
}
