import AppStorePayloads
import ArgumentParser
import Outbox

struct DeadLettersShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show one dead letter, and what it says.",
        discussion: """
            What an unverified letter says is shown as it stands in it; nobody vouches for it.

            Example: storehook dead-letters show 17
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The letter's number.") var id: Int64
    @Option(help: "table or json.") var format = OutputFormat.table
    @Flag(help: "Print the stored bytes and nothing else.") var raw = false

    private struct Answer: Encodable {
        var letter: DeadLetterAnswer
        var header: String?
        var payload: String?
    }

    func run() async throws {
        let found = try await Database.with(try await shared.settings()) { pool in
            try await Outbox(pool).deadLetter(id)
        }
        guard let (letter, stored) = found else {
            throw CommandFailure("there is no dead letter \(id); see storehook dead-letters list")
        }
        if raw {
            do { print(String(decoding: try stored?.get() ?? [], as: UTF8.self)) } catch {
                throw CommandFailure("dead letter \(id): \(error)")
            }
            return
        }
        let segments = ((try? stored?.get()) ?? []).split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let texts = segments.prefix(2).map { segment in
            Base64.url.decode(Array(segment)).map { String(decoding: $0, as: UTF8.self) }
        }
        let answer = Answer(
            letter: DeadLetterAnswer(letter), header: texts.first ?? nil, payload: texts.dropFirst().first ?? nil)
        switch format {
        case .json: print(try JSONText.encode(answer))
        case .table: print(Self.text(answer, size: stored.map(Self.size) ?? "gone"))
        }
    }

    private static func size(_ stored: OpenedBody) -> String {
        switch stored {
        case .success(let body): "\(body.count)"
        case .failure(let why): "\(why)"
        }
    }

    private static func text(_ answer: Answer, size: String) -> String {
        let letter = answer.letter
        var rows: [(String, String?)] = [
            ("dead letter", "\(letter.id)"), ("reason", "\(letter.reason) (\(letter.category))"),
            ("message", letter.message), ("notification", letter.notificationUuid),
            ("type", [letter.type, letter.subtype].compactMap(\.self).joined(separator: " ")),
            ("attempts", "\(letter.attempts)"), ("received", letter.receivedAt), ("dead since", letter.deadAt),
            ("resolution", letter.resolution),
        ]
        if let by = letter.resolvedBy, let at = letter.resolvedAt {
            rows.append(("resolved", "\(at) by \(by)" + (letter.resolvedWhy.map { ": \($0)" } ?? "")))
        }
        rows.append(("stored bytes", size))
        rows.append(("payload", answer.payload ?? "cannot be decoded"))
        return rows.filter { $0.1?.isEmpty == false }
            .map { name, value in name + String(repeating: " ", count: 14 - name.count) + (value ?? "") }
            .joined(separator: "\n")
    }
}
