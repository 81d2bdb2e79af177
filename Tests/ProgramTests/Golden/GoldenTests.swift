import Foundation
import TestSupport
import Testing

/// What people script against must not change by the way: every output of one life is held against the one that is kept.
///
/// `STOREHOOK_TEST_GOLDEN=write` writes what comes now in place of what is kept; the difference is then seen in the commit.
@Suite("The outputs of one life")
struct GoldenTests {
    private typealias Output = GoldenLife.Output

    private static let directory = packageRoot.appending(path: "Tests/ProgramTests/Golden/outputs")

    /// An output as it is kept: a line that says what was asked, and what came.
    private static func section(_ output: Output, _ text: inout GoldenText) -> String {
        let body =
            switch output.kind {
            case .json: text.json(output.text) ?? text.lines(output.text)
            case .table: text.table(output.text)
            }
        return "=== \(text.table(output.question))\n\(body)\(body.hasSuffix("\n") ? "" : "\n")"
    }

    @Test("are what they were, no single change passes unseen, and where one is lost its command has failed")
    func golden() async throws {
        let begin = Int64(Date().timeIntervalSince1970 * 1000)
        let (start, outputs) = try await GoldenLife.with { life, sales in
            let outputs = try await life.outputs(sales)
            try await life.loseOutputs(sales)
            return (life.start, outputs)
        }
        var text = GoldenText(start: start, now: begin...Int64(Date().timeIntervalSince1970 * 1000))
        // Tables last: what differs gets its name where it stands in JSON.
        var sections = [String](repeating: "", count: outputs.count)
        for kind in [Output.Kind.json, .table] {
            for (place, output) in outputs.enumerated() where output.kind == kind {
                sections[place] = Self.section(output, &text)
            }
        }
        let isWriting = ProcessInfo.processInfo.environment["STOREHOOK_TEST_GOLDEN"] == "write"
        for file in Set(outputs.map(\.file)).sorted() {
            let mine = outputs.indices.filter { outputs[$0].file == file }.map { sections[$0] }
            let path = Self.directory.appending(path: "\(file).txt")
            if isWriting {
                try FileManager.default.createDirectory(at: Self.directory, withIntermediateDirectories: true)
                try Data(mine.joined().utf8).write(to: path)
            }
            let kept = try String(contentsOf: path, encoding: .utf8)
            if mine.joined() != kept { report(mine.joined(), kept, file) }
        }
        try Mutation.all.forEach { mutation in
            for (place, output) in outputs.enumerated() where output.file == mutation.file {
                guard let changed = mutation.change(output) else { continue }
                var copy = text
                #expect(Self.section(changed, &copy) != sections[place], "unseen: \(mutation.name)")
                return
            }
            throw NeverHappened("there is something to change: \(mutation.name)")
        }
        #expect(Mutation.all.count >= 30)
    }

    /// Says where two texts part.
    private func report(_ text: String, _ kept: String, _ file: String) {
        let (now, then) = (text.split(separator: "\n"), kept.split(separator: "\n"))
        let place =
            zip(now, then).enumerated().first { $0.element.0 != $0.element.1 }?.offset ?? min(now.count, then.count)
        let question = now.prefix(place + 1).last { $0.hasPrefix("===") } ?? ""
        let from = max(0, place - 4)
        Issue.record(
            """
            \(file).txt line \(place + 1), of \(question)
            was:
            \(then.dropFirst(from).prefix(12).joined(separator: "\n"))
            is:
            \(now.dropFirst(from).prefix(12).joined(separator: "\n"))
            """)
        let path = FileManager.default.temporaryDirectory.appending(path: "storehook-golden-\(file).txt")
        try? Data(text.utf8).write(to: path)
        print("all of it: \(path.path)")
    }
}

/// One change of one output.
struct Mutation: Sendable {
    var name: String
    var file: String
    var change: @Sendable (GoldenLife.Output) -> GoldenLife.Output?

    private static func replacing(
        _ name: String, in file: String, kind: GoldenLife.Output.Kind = .json, _ old: String, _ new: String
    ) -> Mutation {
        Mutation(name: name, file: file) { output in
            guard output.kind == kind, let place = output.text.range(of: old) else { return nil }
            var changed = output
            changed.text.replaceSubrange(place, with: new)
            return changed
        }
    }

    /// The first end is some seconds away from what it was.
    private static func later(_ name: String, in file: String, kind: GoldenLife.Output.Kind = .json) -> Mutation {
        Mutation(name: name, file: file) { output in
            let end =
                kind == .json
                ? /(?:expiresAt|expires_at|access_until|timestamp)": ?"[0-9-]+T[0-9]{2}:[0-9]{2}:([0-9])/
                : /until [0-9-]+T[0-9]{2}:[0-9]{2}:([0-9])/
            guard output.kind == kind, let digit = output.text.firstMatch(of: end)?.output.1 else { return nil }
            var changed = output
            changed.text.replaceSubrange(digit.startIndex..<digit.endIndex, with: digit == "5" ? "4" : "5")
            return changed
        }
    }

    private static func asked(_ name: String, in file: String, _ old: String, _ new: String) -> Mutation {
        Mutation(name: name, file: file) { output in
            guard output.question.contains(old) else { return nil }
            var changed = output
            changed.question = output.question.replacing(old, with: new)
            return changed
        }
    }

    static let all: [Mutation] = [
        replacing("an account's status", in: "account-api", #""status":"active""#, #""status":"expired""#),
        replacing("a tier", in: "account-api", #""tier":"premium""#, #""tier":"pro""#),
        replacing(
            "whether there is access", in: "account-api", #""hasActiveSubscription":true"#,
            #""hasActiveSubscription":false"#),
        later("an end", in: "account-api"),
        replacing("a code", in: "account-api", #""code":"other_account""#, #""code":"bound_elsewhere""#),
        replacing("a member's name", in: "account-api", #""autoRenewStatus""#, #""willRenew""#),
        replacing("a product", in: "account-api", "basic.monthly", "basic.weekly"),
        replacing("a text for a number", in: "account-api", #""used":1"#, #""used":"1""#),
        replacing("a number", in: "account-api", #""remaining":1"#, #""remaining":0"#),
        asked("a status of HTTP", in: "account-api", "→ 403", "→ 404"),
        asked("a header", in: "account-api", "x-storehook-tier: premium", "x-storehook-tier: pro"),
        asked("a media type", in: "account-api", "application/problem+json", "application/json"),
        replacing(
            "an event's type", in: "deliveries", #""type":"subscription.started""#, #""type":"subscription.renewed""#),
        later("an event's instant", in: "deliveries"),
        replacing("a sequence", in: "deliveries", #""sequence":2"#, #""sequence":3"#),
        replacing("a cause", in: "deliveries", #""cause":{"kind":"notification""#, #""cause":{"kind":"clock""#),
        replacing("an amount", in: "account-api", #""price":4990"#, #""price":4991"#),
        replacing("a currency", in: "account-api", #""currency":"USD""#, #""currency":"EUR""#),
        replacing("what was before", in: "events", #""previous":"#, #""before":"#),
        asked("an event's order", in: "events", "1:", "2:"),
        asked("an exit status", in: "commands", "→ 1", "→ 0"),
        replacing("a state in a command's JSON", in: "commands", #""status""#, #""state""#),
        later("an instant in a command's JSON", in: "commands"),
        replacing("a count", in: "commands", #""missing":0"#, #""missing":1"#),
        replacing("an act's kind", in: "commands", #""kind":"revoke""#, #""kind":"unrevoke""#),
        replacing("a cell of a table", in: "commands", kind: .table, "active", "trial"),
        later("an instant in a table", in: "commands", kind: .table),
        replacing("a table's column", in: "commands", kind: .table, "STATE", "STATUS"),
        replacing("a line less in a table", in: "commands", kind: .table, "\n\n", "\n"),
        replacing("a path of the document", in: "openapi", #""/v1/guard""#, #""/v1/guards""#),
        replacing("a required member of the document", in: "openapi", #""required":["#, #""required":["x","#),
        replacing("a version", in: "commands", kind: .table, "commit", "build"),
    ]
}
